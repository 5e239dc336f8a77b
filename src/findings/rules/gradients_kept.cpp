// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

struct Step {
  std::size_t forward = 0;  ///< where its first forward begins
  bool accumulates = false;
};

Step step_at_peak(const Subject& subject, std::uint32_t step) {
  Step result;
  for (const auto& phase : subject.phases()) {
    if (phase.step != step || phase.name != PhaseName::forward) continue;
    if (phase.micro_batch <= 1) result.forward = phase.begin;
    result.accumulates |= phase.micro_batch > 1;
  }
  return result;
}

// Where the script gives these gradients up too late or not at all: the place for parameters of about their bytes.
std::string line_of_zero_grad(const Subject& subject, std::uint64_t gradients) {
  const auto far = [&](const attribution::ZeroGrad& place) {
    return place.bytes > gradients ? place.bytes - gradients : gradients - place.bytes;
  };
  const attribution::ZeroGrad* best = nullptr;
  for (const auto& place : subject.facts().zero_grads) {
    const bool late = !place.set_to_none || place.phase == "forward";
    if (late && far(place) * 2 <= gradients && (best == nullptr || far(place) < far(*best))) best = &place;
  }
  return best == nullptr ? std::string() : best->line;
}

std::vector<Finding> find_gradients_kept(const Rule& rule, const Subject& subject) {
  const auto* peak = subject.peak_phase();
  if (peak == nullptr || (peak->name != PhaseName::forward && peak->name != PhaseName::backward)) return {};
  const Step step = step_at_peak(subject, peak->step);
  std::vector<AllocationId> from_before, accumulated;
  for (const AllocationId id : subject.live()) {
    if (subject.category(id) != Category::gradients) continue;
    const bool older = subject.allocations().older(id) || subject.allocations().born[id] < step.forward;
    const auto* birth = subject.birth(id);
    if (older)
      from_before.push_back(id);
    else if (birth != nullptr && birth->micro_batch < peak->micro_batch)
      accumulated.push_back(id);
  }
  const bool kept = sum_of(subject, from_before) >= subject.worth();
  const auto& gradients = kept ? from_before : accumulated;
  if (sum_of(subject, gradients) < subject.worth()) return {};
  Finding finding =
      finding_of(rule, sum_of(subject, gradients),
                 kept ? "gradients of the step before are alive while the next forward runs"
                      : "gradients of earlier micro batches are alive while the next one runs",
                 kept ? CodeLine{line_of_zero_grad(subject, sum_of(subject, gradients)), {}} : CodeLine{});
  if (!kept)
    finding.evidence.emplace_back("expected with accumulation: a larger micro batch would need activations instead");
  finding.evidence.push_back(std::to_string(gradients.size()) + " gradients");
  if (!kept) finding.next = "nothing, if the micro batch cannot be larger";
  return {finding};
}

}  // namespace

const Rule gradients_kept{
    "gradients_kept",
    FindingLevel::opportunity,
    "gradients live through the forward pass",
    "At the peak, in a forward or backward pass, gradients are alive that are older than this pass: of the step before "
    "(zero_grad(set_to_none=False), or zero_grad after the forward), or of earlier micro batches of an accumulation, "
    "which is what accumulating costs.",
    "optimizer.zero_grad(set_to_none=False)",
    "optimizer.zero_grad() with set_to_none=True, right after the step and before the next forward",
    find_gradients_kept};

}  // namespace ullage::findings
