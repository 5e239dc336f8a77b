// SPDX-License-Identifier: Apache-2.0
#include "findings/every_step.hpp"

#include <algorithm>
#include <map>

namespace ullage::findings {

namespace {

/// Of one step.
struct Sum : EveryStep {
  std::uint64_t waited_copies = 0;
};
using Lines = std::map<std::string, Sum>;

void add(Lines& lines, const ledger::CopyLine& copy) {
  Sum& sum = lines[copy.line];
  if (copy.direction == "device_to_host") {
    sum.down_bytes += copy.bytes;
    return;
  }
  sum.repeated += copy.repeated, sum.repeated_bytes += copy.repeated_bytes;
  sum.waited_copies += copy.waited;
  if (!copy.pinned) sum.pageable += copy.count, sum.pageable_bytes += copy.bytes;
}

Lines lines_of(const ledger::StepTransfers& step) {
  Lines lines;
  for (const auto& copy : step.copies) {
    if (!copy.line.empty()) add(lines, copy);
  }
  for (const auto& sync : step.syncs) {
    if (!sync.line.empty()) lines[sync.line].waits += sync.count;
  }
  for (auto& [line, sum] : lines) sum.waits -= std::min(sum.waits, sum.waited_copies);
  return lines;
}

EveryStep smaller(const std::string& line, const EveryStep& a, const EveryStep& b) {
  return {line,
          std::min(a.pageable, b.pageable),
          std::min(a.pageable_bytes, b.pageable_bytes),
          std::min(a.repeated, b.repeated),
          std::min(a.repeated_bytes, b.repeated_bytes),
          std::min(a.down_bytes, b.down_bytes),
          std::min(a.waits, b.waits)};
}

}  // namespace

std::vector<EveryStep> in_every_step(const Subject& subject) {
  const auto& steps = subject.facts().transfers;
  std::vector<EveryStep> result;
  if (steps.size() < 2) return result;
  const Lines before = lines_of(steps[steps.size() - 2]);
  for (const auto& [line, sum] : lines_of(steps.back())) {
    if (const auto found = before.find(line); found != before.end())
      result.push_back(smaller(line, sum, found->second));
  }
  return result;
}

}  // namespace ullage::findings
