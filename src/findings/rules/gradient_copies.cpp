// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/same_sizes.hpp"

namespace ullage::findings {

namespace {

// What Python code of a step made after its backward pass, and gradients that Python code made: the engine's have no
// line.
std::vector<AllocationId> candidates(const Subject& subject) {
  auto result = without_owner(subject);
  std::erase_if(result, [&](AllocationId id) {
    const auto* birth = subject.birth(id);
    return birth == nullptr || birth->name != PhaseName::backward || line_of(subject, id).empty();
  });
  for (const AllocationId id : subject.live()) {
    if (subject.category(id) == Category::gradients && !line_of(subject, id).empty()) result.push_back(id);
  }
  return result;
}

std::vector<Finding> find_gradient_copies(const Rule& rule, const Subject& subject) {
  const Sizes sizes = trained_sizes(subject);
  for (const LineSum& sum : by_line(subject, candidates(subject))) {
    const auto copies = matching(subject, sum.allocations, sizes);
    const std::uint64_t bytes = sum_of(subject, copies);
    if (bytes < subject.worth()) continue;
    Finding finding = finding_of(rule, bytes, "a second set of gradients is alive at the peak", sum.code);
    finding.evidence.push_back(std::to_string(copies.size()) + " tensors with the sizes of the gradients, one by one");
    return {finding};
  }
  return {};
}

}  // namespace

const Rule gradient_copies{"gradient_copies",
                           FindingLevel::opportunity,
                           "a copy of the gradients, in fp32 or another precision",
                           "A line of code that runs after a backward pass makes tensors whose sizes are those of the "
                           "gradients one by one, in "
                           "their precision, twice or half of it (at least half of their bytes), or makes gradients "
                           "itself: unscaling by hand, "
                           "accumulation in buffers, statistics. "
                           "At 7 B parameters an fp32 copy has 28 GB.",
                           "grads = [p.grad.float() / scale for p in model.parameters()]",
                           "work in place (torch._foreach_mul_, GradScaler.unscale_), or on one gradient at a time",
                           find_gradient_copies};

}  // namespace ullage::findings
