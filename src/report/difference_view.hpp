// SPDX-License-Identifier: Apache-2.0
// Two ledgers side by side: what `ullage diff` prints.
#pragma once

#include "ledger/difference.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace ullage::report {

struct DifferenceView {
  std::string before, after;                ///< paths
  std::string before_moment, after_moment;  ///< what the ledgers are of
  ledger::Difference root;
  std::vector<std::string> notes;
};

/// For people: the chart with both columns, then the `top` leaves that changed most.
[[nodiscard]] std::string difference_text(const DifferenceView& view, std::size_t top);
/// For programs: docs/schemas/diff.schema.json.
[[nodiscard]] std::string difference_json(const DifferenceView& view);

}  // namespace ullage::report
