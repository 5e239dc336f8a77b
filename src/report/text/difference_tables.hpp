// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/difference_view.hpp"

#include <string>
#include <vector>

namespace ullage::report {

/// What the two columns are called.
struct SideTitles {
  std::string before = "before", after = "after";
};

/// The settings that differ.
[[nodiscard]] std::string settings_table(const std::vector<ChangedSetting>& settings, const SideTitles& sides = {});

/// The chart with both columns and the change.
[[nodiscard]] std::string difference_chart(const ledger::Difference& root, const SideTitles& sides = {});

}  // namespace ullage::report
