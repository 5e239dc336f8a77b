// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/survivors.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find_outputs_kept(const Rule& rule, const Subject& subject) {
  const Survivors& survivors = survivors_of(subject);
  const KeptGraph graph = kept_graph(subject, survivors);
  auto kept = survivors.replaced;
  std::erase_if(kept, [&](AllocationId id) { return std::ranges::binary_search(graph.allocations, id); });
  std::erase_if(kept,
                [&](AllocationId id) { return subject.category(id) == Category::inputs && !subject.name(id).empty(); });
  const std::uint64_t sum = sum_of(subject, kept);
  if (sum < subject.worth()) return {};
  Finding finding = finding_of(rule, sum, "results of the step before are still alive at the peak",
                               main_line(subject, kept, LineKind::own));
  finding.evidence = parts_of(subject, kept);
  return {finding};
}

}  // namespace

const Rule outputs_kept{
    "outputs_kept",
    FindingLevel::opportunity,
    "outputs of the step before are still alive at the peak",
    "A variable of the loop (logits, loss, a model's output object) holds its tensor until it gets the next one, so "
    "both "
    "are there while the next step runs. The bytes are what an earlier step made, lived at the peak and was given up "
    "after it.",
    "for batch in loader:\n    logits = model(batch)                 # the old logits live until here",
    "del the variable at the end of the step, or do the step in a function",
    find_outputs_kept};

}  // namespace ullage::findings
