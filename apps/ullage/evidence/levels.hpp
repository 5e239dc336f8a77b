// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"
#include "ledger/breakdown.hpp"

#include <string>
#include <vector>

namespace ullage::cli {

/// The levels of `--by`, separated by commas. Errors: `usage`, with a suggestion.
[[nodiscard]] Result<std::vector<ledger::Level>> levels_of(const std::string& text);

}  // namespace ullage::cli
