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

std::vector<Finding> find_optimizer_peak(const Rule& rule, const Subject& subject) {
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

const ledger::Phase* highest(const RunSteps& steps, bool in_optimizer, bool later = false) {
  const ledger::Phase* found = nullptr;
  for (const auto& phase : steps.phases) {
    if ((phase.name == PhaseName::optimizer) != in_optimizer || (later && phase.step < 2)) continue;
    if (found == nullptr || phase.peak_allocated > found->peak_allocated) found = &phase;
  }
  return found;
}

std::vector<Finding> find_optimizer_peak_in_steps(const Rule& rule, const RunSteps& steps) {
  const auto* spike = highest(steps, true);
  const auto* rest = highest(steps, false);
  if (!steps.recorded || spike == nullptr || rest == nullptr) return {};
  std::uint64_t others = rest->peak_allocated;
  for (const auto& phase : steps.phases) others = std::max(others, phase.allocated);
  if (spike->peak_allocated < others + worth_of(spike->peak_allocated)) return {};
  const std::uint64_t above = spike->peak_allocated - others;
  Finding finding =
      finding_of(rule, above, "the optimizer step peaks " + format_bytes(above) + " above everything else");
  finding.evidence.push_back(format_bytes(spike->peak_allocated) + " in " + title_of(*spike) + "; outside of it " +
                             format_bytes(rest->peak_allocated) + " at most, in " + title_of(*rest));
  const auto* later = highest(steps, true, true);
  if (later != nullptr && later->peak_allocated + worth_of(spike->peak_allocated) < spike->peak_allocated)
    finding.evidence.push_back("in the first step only: later ones reach " + format_bytes(later->peak_allocated));
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
    "those above the highest of all other moments, the state that stays included. A recording without a memory history "
    "compares the peaks of its phases, and says when only the first step is so.",
    "optimizer = torch.optim.AdamW(model.parameters())      # foreach by default",
    "fused=True (no temporaries) or foreach=False (those of one parameter at a time)",
    find_optimizer_peak,
    find_optimizer_peak_in_steps};

}  // namespace ullage::findings
