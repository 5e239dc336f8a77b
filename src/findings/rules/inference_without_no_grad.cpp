// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/unreached.hpp"

namespace ullage::findings {

namespace {

std::vector<Finding> find_inference_without_no_grad(const Rule& rule, const Subject& subject) {
  if (subject.has(PhaseName::backward) || subject.has(PhaseName::optimizer)) return {};
  const auto& graph = unreached_in(subject).at_peak;
  const std::uint64_t sum = sum_of(subject, graph);
  if (sum < subject.worth()) return {};
  Finding finding = finding_of(rule, sum, "inference keeps " + format_bytes(sum) + " for a backward pass",
                               main_line(subject, graph, LineKind::module_call));
  finding.evidence = parts_of(subject, graph);
  return {finding};
}

}  // namespace

const Rule inference_without_no_grad{
    "inference_without_no_grad",
    FindingLevel::problem,
    "inference builds an autograd graph",
    "The run has no backward pass and no optimizer step, yet operators made nodes of the autograd graph and kept their "
    "tensors until the output was given up. The bytes are those alive at the peak. Needs the record of operators.",
    "model.eval()\nfor batch in batches:\n    scores = model(batch)",
    "wrap the loop in torch.inference_mode() or torch.no_grad(); eval() alone does not do it",
    find_inference_without_no_grad};

}  // namespace ullage::findings
