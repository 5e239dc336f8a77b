// SPDX-License-Identifier: Apache-2.0
// Asking another program for a short answer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ullage {

/// Runs a program (a path), without the stand-ins and hooks of an outer rehearsal, and returns what it printed; nothing
/// when it could not be started, failed, or took longer than `limit` (0: no limit), at which it is ended.
[[nodiscard]] std::optional<std::string> output_of(std::vector<std::string> argv, std::chrono::milliseconds limit = {});

}  // namespace ullage
