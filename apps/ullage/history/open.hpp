// SPDX-License-Identifier: Apache-2.0
// The result of a run, for commands over the history.
#pragma once

#include "apps/ullage/flags.hpp"
#include "store/record.hpp"

#include <string>

namespace ullage::cli {

/// The run that an argument names: what its directory says, or, where that is gone, what the store has. Errors: those
/// of resolve_run; `bad_input` for a run that did not end.
[[nodiscard]] Result<store::Record> open_record(const std::string& argument);

/// The same for a command, `ullage VERB RUN`, that takes just one. Errors: also `usage`, when it is missing.
[[nodiscard]] Result<store::Record> open_one_record(const Arguments& arguments, const std::string& command);

}  // namespace ullage::cli
