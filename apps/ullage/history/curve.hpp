// SPDX-License-Identifier: Apache-2.0
// The curve of a run, from what is there of it.
#pragma once

#include "ledger/phases.hpp"
#include "report/text/curve.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

/// From the allocator's history in a run directory; nothing when it has none.
[[nodiscard]] std::optional<report::Curve> curve_of_directory(const std::string& directory);

/// From the peaks and ends of phases: two columns each.
[[nodiscard]] report::Curve curve_of_phases(const std::vector<ledger::Phase>& phases);

}  // namespace ullage::cli
