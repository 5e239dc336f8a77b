// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/survivors.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find_graph_kept(const Rule& rule, const Subject& subject) {
  const Survivors& survivors = survivors_of(subject);
  const auto [graph, grows] = kept_graph(subject, survivors);
  const std::uint64_t sum = sum_of(subject, graph);
  if (graph.empty() || sum < subject.worth()) return {};
  const std::string each =
      grows ? format_bytes(sum / (survivors.increases + 1)) + " more in every step" : "while the next forward runs";
  Finding finding = finding_of(rule, sum, "a graph that is done with is kept alive, " + each,
                               main_line(subject, graph, LineKind::module_call));
  finding.grows = grows;
  if (grows) finding.bytes_are = "at the end of the recording";
  finding.evidence = parts_of(subject, graph);
  return {finding};
}

}  // namespace

const Rule graph_kept{
    "graph_kept",
    FindingLevel::problem,
    "a Python reference keeps an autograd graph alive that is done with",
    "Activations from inside a model, of several operators, pile up from step to step; or a graph that no backward "
    "pass "
    "comes to is still there when the next training forward runs. Backward gives up what a graph has saved, so this is "
    "a "
    "graph that none went through, or one with retain_graph=True. The line is the call that made the graph; the "
    "reference "
    "is where its result is put.",
    "history.append(model(batch))              # no backward, no detach()",
    "keep result.detach() or result.item(), compute it under torch.no_grad(), and do not retain graphs",
    find_graph_kept};

}  // namespace ullage::findings
