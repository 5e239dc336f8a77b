// SPDX-License-Identifier: Apache-2.0
// Becoming a command: for what must not be seen by those who started it.
#pragma once

#include "base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ullage {

/// Replaces this process by the command: its process id, streams, signals and status are then the command's own. A
/// value sets a variable of its environment, an empty optional removes it. Returns only an error: `usage` when the
/// command is not found or may not be executed; `unsupported` when not on Linux.
[[nodiscard]] Error execute(const std::vector<std::string>& argv,
                            const std::map<std::string, std::optional<std::string>>& environment);

}  // namespace ullage
