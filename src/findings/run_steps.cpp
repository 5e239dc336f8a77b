// SPDX-License-Identifier: Apache-2.0
#include "findings/run_steps.hpp"

namespace ullage::findings {

std::vector<double> allocated_after_steps(std::span<const ledger::Mark> marks) {
  std::vector<double> values;
  std::uint32_t step = 0;
  for (const auto& mark : marks) {
    const bool ends = mark.name == ledger::MarkName::optimizer_end || mark.name == ledger::MarkName::step_end;
    if (!ends || mark.step == 0) continue;
    if (mark.step == step) values.pop_back();
    values.push_back(static_cast<double>(mark.counters.allocated));
    step = mark.step;
  }
  return values;
}

}  // namespace ullage::findings
