// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/unreached.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find(const Rule& rule, const Subject& subject) {
  if (!subject.has(PhaseName::backward)) return {};
  const Unreached unreached = unreached_in(subject);
  const bool at_peak = sum_of(subject, unreached.at_peak) >= subject.worth();
  const auto& graph = at_peak ? unreached.at_peak : unreached.at_most;
  const std::uint64_t sum = sum_of(subject, graph);
  if (sum < subject.worth()) return {};
  Finding finding = finding_of(rule, sum, format_bytes(sum) + " are kept for a backward pass that never comes",
                               main_line(subject, graph, calling_line_of));
  if (!at_peak) finding.bytes_are = "at their highest, not at the peak";
  finding.evidence = parts_of(subject, graph);
  const std::string inner = main_line(subject, graph);
  if (!inner.empty() && inner != finding.line) finding.evidence.push_back("most of it by " + inner);
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
    find};

}  // namespace ullage::findings
