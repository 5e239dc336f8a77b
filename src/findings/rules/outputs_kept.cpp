// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/survivors.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find(const Rule& rule, const Subject& subject) {
  auto kept = survivors_of(subject).replaced;
  if (!graph_of(subject, kept).empty() && sum_of(subject, graph_of(subject, kept)) >= subject.worth()) return {};
  std::erase_if(kept, [&](AllocationId id) { return subject.category(id) == Category::inputs; });
  const std::uint64_t sum = sum_of(subject, kept);
  if (sum < subject.worth()) return {};
  Finding finding = finding_of(rule, sum, "results of the step before are still alive at the peak",
                               main_line(subject, kept, own_line_of));
  finding.evidence = parts_of(subject, kept);
  return {finding};
}

}  // namespace

const Rule outputs_kept{
    "outputs_kept",
    FindingLevel::opportunity,
    "outputs of the step before are still alive at the peak",
    "A variable of the loop (logits, loss, a model's output object) holds its tensor until it gets the next one, so both "
    "are there while the next step runs. The bytes are what an earlier step made, lived at the peak and was given up "
    "after it.",
    "for batch in loader:\n    logits = model(batch)                 # the old logits live until here",
    "del the variable at the end of the step, or do the step in a function",
    find};

}  // namespace ullage::findings
