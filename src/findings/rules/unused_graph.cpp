// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/unreached.hpp"

namespace ullage::findings {

namespace {

// Whether the forward passes that made it also made what a backward pass came to: then it is a branch of them.
bool is_branch(const Subject& subject, const std::vector<AllocationId>& graph, const Unreached& unreached) {
  std::uint64_t made = 0;
  for (const Forward& forward : subject.forwards()) {
    const auto inside = [&](AllocationId id) {
      return subject.allocations().born[id] >= forward.begin && subject.allocations().born[id] < forward.end;
    };
    if (std::ranges::none_of(graph, inside)) continue;
    for (auto id = static_cast<AllocationId>(subject.allocations().before_trace); id < subject.allocations().count();
         ++id) {
      if (inside(id) && subject.category(id) == Category::activations && subject.kind(id) == "saved for backward" &&
          !std::ranges::binary_search(unreached.all, id))
        made += subject.bytes(id);
    }
  }
  return made >= subject.worth();
}

std::vector<Finding> find_unused_graph(const Rule& rule, const Subject& subject) {
  if (!subject.has(PhaseName::backward)) return {};
  const Unreached& unreached = unreached_in(subject);
  const bool at_peak = sum_of(subject, unreached.at_peak) >= subject.worth();
  const auto& graph = at_peak ? unreached.at_peak : unreached.at_most;
  const std::uint64_t sum = sum_of(subject, graph);
  if (sum < subject.worth()) return {};
  Finding finding = finding_of(
      rule, sum, format_bytes(sum) + " are kept for a backward pass that never comes",
      main_line(subject, graph, is_branch(subject, graph, unreached) ? LineKind::own : LineKind::module_call));
  if (!at_peak) finding.bytes_are = "at their highest, not at the peak";
  if (unreached.ends_early) finding.bytes_are += ", of the first steps alone";
  finding.evidence = parts_of(subject, graph);
  const std::string inner = main_line(subject, graph).line;
  if (!inner.empty() && inner != finding.code.line) finding.evidence.push_back("most of it by " + inner);
  return {finding};
}

}  // namespace

const Rule unused_graph{
    "unused_graph",
    FindingLevel::problem,
    "tensors are saved in a graph that no backward pass reaches",
    "Operators ran with gradients and made nodes of the autograd graph, but the engine never ran these nodes: a "
    "validation pass without no_grad, or a branch whose result is not part of the loss. What they saved lived on for "
    "nothing. Needs the record of operators (the first steps of a rehearsal).",
    "model.eval()\nprediction = model(validation_batch)      # no torch.no_grad()",
    "put the call under torch.no_grad(), or do not compute the branch whose result is not used",
    find_unused_graph};

}  // namespace ullage::findings
