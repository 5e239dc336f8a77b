// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <string>

#include "base/bytes.hpp"
#include "findings/rules/all.hpp"

namespace ullage::findings {

namespace {

constexpr std::size_t least_steps = 2;

struct Kept {
  std::uint64_t bytes = 0, count = 0;
  std::vector<std::uint32_t> steps;
};

std::vector<Finding> find_zero_grad_missing_in_steps(const Rule& rule, const RunSteps& steps) {
  std::map<std::string, Kept> by_line;
  for (const auto& seen : steps.kept_gradients) {
    Kept& kept = by_line[seen.line];
    kept.bytes = seen.bytes, kept.count = seen.count;
    if (kept.steps.empty() || kept.steps.back() != seen.step) kept.steps.push_back(seen.step);
  }
  std::vector<Finding> result;
  for (const auto& [line, kept] : by_line) {
    if (kept.steps.size() < least_steps) continue;
    Finding finding =
        finding_of(rule, kept.bytes, "gradients survive into the next step, which adds to them", {line, {}});
    finding.bytes_are = "from step to step";
    finding.evidence.push_back(fmt::format("{} gradients, the same tensors as after the step before, in steps {}",
                                           kept.count, fmt::join(kept.steps, ", ")));
    finding.evidence.emplace_back("nothing but the backward passes wrote into them: they were not zeroed");
    result.push_back(std::move(finding));
  }
  return result;
}

}  // namespace

const Rule zero_grad_missing{
    "zero_grad_missing",
    FindingLevel::problem,
    "nobody gives up or zeroes the gradients between two optimizer steps",
    "When an optimizer steps, its gradients are the same tensors as after its step before, and have been written as "
    "often "
    "as backward passes ran since: every step adds to all gradients of all steps before. Seen in at least two steps. "
    "Gradients that are also clipped or unscaled in place are not judged. The line is that of the optimizer's step; "
    "the "
    "bytes are the gradients'.",
    "for batch in loader:\n    loss_of(model(batch)).backward()\n    optimizer.step()                       # no "
    "zero_grad()",
    "optimizer.zero_grad() after the step",
    nullptr,
    find_zero_grad_missing_in_steps};

}  // namespace ullage::findings
