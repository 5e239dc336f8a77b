// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/survivors.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t least_per_round = 64 << 10;

std::vector<Finding> find(const Rule& rule, const Subject& subject) {
  const Survivors survivors = survivors_of(subject);
  std::vector<AllocationId> growing = survivors.growing;
  const KeptGraph graph = kept_graph(subject, survivors);
  std::erase_if(growing, [&](AllocationId id) { return std::ranges::binary_search(graph.allocations, id); });
  const std::uint64_t sum = sum_of(subject, growing);
  if (survivors.rounds == 0 || sum / survivors.rounds < least_per_round) return {};
  const std::string each = format_bytes(sum / survivors.rounds);
  Finding finding = finding_of(rule, sum, "memory grows by " + each + " in every step", main_line(subject, growing));
  finding.bytes_are = "after " + std::to_string(survivors.rounds + 2) + " steps";
  for (const LineSum& line : by_line(subject, growing)) {
    if (finding.evidence.size() == 3) break;
    finding.evidence.push_back(format_bytes(line.bytes) + " in " + std::to_string(line.allocations.size()) +
                               " blocks that no later step gave up, made by " +
                               (line.code.line.empty() ? std::string("no Python code") : line.code.line));
  }
  return {finding};
}

}  // namespace

const Rule growth{
    "growth",
    FindingLevel::problem,
    "allocated memory grows from step to step",
    "A line of code leaves blocks behind in every step after the first, at least two steps in a row, and none of them is "
    "given up until the recording ends. The first step (lazy state, warm-up) and the last (its results may still be in "
    "use) do not count. A buffer that fills up to a limit looks the same until it is full. Needs at least four steps.",
    "features.append(model.encode(batch))      # on the GPU, in every step",
    "keep numbers instead of tensors (.item()), move them to the host (.cpu()), or give up the reference",
    find};

}  // namespace ullage::findings
