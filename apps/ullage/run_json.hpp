// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

#include <string>

namespace ullage::cli {

/// Writes a run's result into its directory: the file is there whole or not at all. Errors: `io`.
[[nodiscard]] Result<void> write_run_json(const std::string& directory, const std::string& text);

}  // namespace ullage::cli
