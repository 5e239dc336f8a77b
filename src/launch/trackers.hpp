// SPDX-License-Identifier: Apache-2.0
// Experiment trackers during a rehearsal: they write into the run directory and send nothing.
#pragma once

#include "launch/file_protection.hpp"

#include <map>
#include <optional>
#include <string>

namespace ullage {

/// Changes to the environment. What the user has set to stay on this machine is kept.
[[nodiscard]] std::map<std::string, std::optional<std::string>> local_trackers(const Variables& variables,
                                                                               const std::string& run_directory);

}  // namespace ullage
