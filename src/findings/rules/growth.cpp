// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "findings/steady_growth.hpp"
#include "findings/survivors.hpp"

namespace ullage::findings {

namespace {

constexpr std::uint64_t least_per_round = 64 << 10;

bool mostly_in(const std::vector<AllocationId>& some, const std::vector<AllocationId>& sorted) {
  const auto inside = [&](AllocationId id) { return std::ranges::binary_search(sorted, id); };
  return static_cast<std::size_t>(std::ranges::count_if(some, inside)) * 2 > some.size();
}

// Whether what the model is given grows too: longer sequences, larger batches.
bool batch_grows(const Subject& subject) {
  std::vector<std::uint64_t> given(subject.rounds().size() + 1);
  for (AllocationId id = 0; id < subject.allocations().count(); ++id) {
    if (subject.category(id) != Category::inputs || subject.name(id).empty() || subject.allocations().older(id))
      continue;
    const auto round = std::ranges::upper_bound(subject.rounds(), subject.allocations().born[id]);
    given[static_cast<std::size_t>(round - subject.rounds().begin())] += subject.bytes(id);
  }
  if (given.size() < 4) return false;
  given.pop_back();  // what comes after the last round
  return std::ranges::is_sorted(given) && given[1] < given.back();
}

std::vector<Finding> find_growth(const Rule& rule, const Subject& subject) {
  const Survivors& survivors = survivors_of(subject);
  const KeptGraph graph = kept_graph(subject, survivors);
  std::vector<AllocationId> growing;
  std::uint64_t per_round = 0;
  for (const Growing& one : survivors.growing) {
    if (mostly_in(one.allocations, graph.allocations)) continue;
    // One tensor that is larger in every step may just follow its batch.
    if (!one.piles_up && (one.per_round * survivors.increases < subject.worth() || batch_grows(subject))) continue;
    growing.insert(growing.end(), one.allocations.begin(), one.allocations.end());
    per_round += one.per_round;
  }
  if (per_round < least_per_round) return {};
  const bool every_second = std::ranges::all_of(survivors.growing, &Growing::every_second);
  Finding finding = finding_of(rule, per_round * survivors.increases,
                               every_second ? "memory grows by " + format_bytes(2 * per_round) + " in every second step"
                                            : "memory grows by " + format_bytes(per_round) + " in every step",
                               main_line(subject, growing));
  finding.grows = true;
  finding.bytes_are = "over " + std::to_string(survivors.increases) + " steps";
  for (const LineSum& line : by_line(subject, growing)) {
    if (finding.evidence.size() == 3) break;
    finding.evidence.push_back(format_bytes(line.bytes) + " at the end, made by " +
                               (line.code.line.empty() ? std::string("no Python code") : line.code.line));
  }
  return {finding};
}

std::string confidence_text(double confidence) {
  return confidence > 0.9999 ? "more than 99.99 %" : fmt::format("{:.2f} %", 100 * confidence);
}

std::vector<Finding> find_growth_in_steps(const Rule& rule, const RunSteps& steps) {
  if (!steps.recorded) return {};
  const auto values = allocated_after_steps(steps.marks);
  const auto growth = steady_growth(values);
  if (!growth) return {};
  const auto per_step = static_cast<std::uint64_t>(growth->bytes_per_step);
  const std::size_t last = values.size(), first = growth->first + 1;
  Finding finding = finding_of(rule, per_step * (last - first),
                               fmt::format("memory grows by {} a step, with a confidence of {}", format_bytes(per_step),
                                           confidence_text(growth->confidence)));
  finding.grows = true;
  finding.bytes_are = fmt::format("over {} steps", last - first);
  finding.evidence = {fmt::format("allocated after step {}: {}; after step {}: {}", first,
                                  format_bytes(static_cast<std::uint64_t>(values[first - 1])), last,
                                  format_bytes(static_cast<std::uint64_t>(values.back()))),
                      fmt::format("it rose in {} of {} steps, by {} at most", growth->rises, last - first,
                                  format_bytes(static_cast<std::uint64_t>(growth->largest_rise)))};
  finding.next =
      "record two steps far apart with --history: 'ullage diff' of their ledgers, and 'ullage findings' of the "
      "recording, name the line";
  return {finding};
}

}  // namespace

const Rule growth{
    "growth",
    FindingLevel::problem,
    "allocated memory grows from step to step",
    "What a line of code holds is more at the end of every step, by like amounts (the largest at most twice the "
    "smallest); "
    "the first step (lazy state, warm-up) does not count. A buffer that fills up to a limit looks the same until it is "
    "full. Parameters, gradients and optimizer state are left out, and graphs (graph_kept). Needs at least four steps; "
    "what grows in every second step only "
    "(from one to the next nothing and like amounts by turns) six. A recording without a memory history knows only "
    "what "
    "was allocated at the end of each step: it needs ten steps, says how sure the Mann-Kendall test is that they rise "
    "(at least 99 %), and is silent unless every quarter of the run lies above the one before, no single step makes "
    "half "
    "of the growth, and it is 1 MiB, 1 % and twice the spread around its line.",
    "features.append(model.encode(batch))      # on the GPU, in every step",
    "look for what keeps the tensor after this line made it: keep numbers (.item()) or host copies without a graph "
    "(.detach().cpu()), or give up the reference",
    find_growth,
    find_growth_in_steps};

}  // namespace ullage::findings
