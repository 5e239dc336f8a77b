// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/peaks.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

// What was made since the last step and was there at an event.
std::vector<AllocationId> made_since(const Subject& subject, std::size_t event) {
  const std::size_t step = subject.round_before(event);
  std::vector<AllocationId> result;
  for (auto id = static_cast<AllocationId>(subject.allocations().before_trace); id < subject.allocations().count();
       ++id) {
    if (subject.allocations().born[id] >= step && subject.allocations().live_at(id, event + 1)) result.push_back(id);
  }
  return result;
}

std::vector<Finding> find_peak_between_steps(const Rule& rule, const Subject& subject) {
  const PartPeaks peaks = part_peaks(subject);
  const bool evaluation = peaks.evaluation.bytes > peaks.between.bytes;
  const PartPeak& beside = evaluation ? peaks.evaluation : peaks.between;
  const std::uint64_t others = std::max({peaks.load.bytes, peaks.training.bytes, peaks.optimizer.bytes});
  if (beside.bytes < others + subject.worth()) return {};
  Finding finding =
      finding_of(rule, beside.bytes - others,
                 evaluation ? "an evaluation needs more memory than any step" : "the peak lies between two steps",
                 main_line(subject, made_since(subject, beside.event), LineKind::own));
  finding.evidence.push_back(format_bytes(beside.bytes) + (evaluation ? " in the evaluation, " : " between steps, ") +
                             format_bytes(others) + " at most in loading and steps");
  return {finding};
}

}  // namespace

const Rule peak_between_steps{
    "peak_between_steps",
    FindingLevel::opportunity,
    "saving a checkpoint or evaluating peaks above the steps",
    "Allocated memory is highest between the end of one step and the forward of the next, or in a forward in "
    "evaluation "
    "mode: copies of the state on the device for a checkpoint, an evaluation with a larger batch or without attention "
    "to what it keeps. The bytes are those above the highest moment of loading and of steps.",
    "state = {k: v.clone() for k, v in model.state_dict().items()}\ntorch.save(state, path)",
    "copy to the host instead (v.cpu()), evaluate with smaller batches, and keep numbers instead of logits",
    find_peak_between_steps};

}  // namespace ullage::findings
