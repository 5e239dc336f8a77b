// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/peaks.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

// What the step makes and gives up again, alive at the peak.
std::vector<AllocationId> temporaries(const Subject& subject) {
  std::vector<AllocationId> result;
  for (const AllocationId id : subject.live()) {
    const auto* birth = subject.birth(id);
    if (birth != nullptr && birth->name == PhaseName::optimizer && birth == subject.death(id)) result.push_back(id);
  }
  return result;
}

std::vector<Finding> find(const Rule& rule, const Subject& subject) {
  const PartPeaks peaks = part_peaks(subject);
  const std::uint64_t others = std::max(
      {peaks.load.bytes, peaks.training.bytes, peaks.evaluation.bytes, peaks.between.bytes, peaks.after_optimizer});
  if (peaks.optimizer.bytes < others + subject.worth()) return {};
  const auto made = temporaries(subject);
  if (made.empty()) return {};
  const std::uint64_t above = peaks.optimizer.bytes - others;
  Finding finding =
      finding_of(rule, above, "the optimizer step peaks " + format_bytes(above) + " above everything else",
                 main_line(subject, made, LineKind::own));
  finding.evidence = parts_of(subject, made);
  return {finding};
}

}  // namespace

const Rule optimizer_peak{
    "optimizer_peak",
    FindingLevel::opportunity,
    "the optimizer's temporaries make the peak",
    "The peak of allocated memory lies in the optimizer step, and is made of what the step allocates and gives up "
    "again: "
    "the foreach form of an optimizer (PyTorch's default) makes a temporary of every parameter's size. The bytes are "
    "those above the highest of all other moments, the state that stays included.",
    "optimizer = torch.optim.AdamW(model.parameters())      # foreach by default",
    "fused=True (no temporaries) or foreach=False (those of one parameter at a time)",
    find};

}  // namespace ullage::findings
