// SPDX-License-Identifier: Apache-2.0
// stdout is the result, stderr is talk.
#pragma once

#include "base/result.hpp"

#include <string_view>

namespace ullage::cli {

/// Writes the result of a command. Errors: `io` when stdout does not take it (a full disk, a closed pipe).
[[nodiscard]] Result<void> print_result(std::string_view text);

/// Writes an error for a person to stderr: what, where, expected, hint.
void print_error(const Error& error);

/// Writes one line beside the result to stderr.
void print_note(std::string_view note);

}  // namespace ullage::cli
