// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/recording/times.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ullage::cli {
namespace {

using ledger::MarkName;

/// When each step ended, in nanoseconds.
std::map<std::uint32_t, std::uint64_t> ends_of_steps(const ingest::RunFacts& facts) {
  std::map<std::uint32_t, std::uint64_t> ends;
  for (const auto& mark : facts.marks) {
    const std::uint32_t step = ended_step(mark);
    if (step > 0 && mark.counters.time_ns > 0) ends[step] = mark.counters.time_ns;
  }
  return ends;
}

/// What the record says of itself; the steps in which tensors were named are apart.
std::set<std::uint32_t> slowed_steps(const ingest::RunFacts& facts) {
  std::set<std::uint32_t> steps;
  for (const auto& left_out : facts.left_out) steps.insert(left_out.step);
  return steps;
}

double at_share(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

/// Over the steps whose tokens were told: the last one may have ended before its script could say them.
std::optional<report::Throughput> throughput_of(const std::map<std::uint32_t, double>& steps,
                                                const std::vector<ingest::TokenFacts>& tokens) {
  report::Throughput sum;
  std::set<std::uint32_t> counted;
  for (const auto& told : tokens) {
    const auto step = steps.find(told.step);
    if (step == steps.end()) continue;
    if (counted.insert(told.step).second) sum.seconds += step->second;
    sum.tokens += told.tokens;
    if (told.effective) sum.effective = sum.effective.value_or(0) + *told.effective;
  }
  return sum.tokens > 0 ? std::optional(std::move(sum)) : std::nullopt;
}

}  // namespace

std::map<std::uint32_t, double> step_durations(const ingest::RunFacts& facts) {
  std::map<std::uint32_t, double> found;
  const auto slowed = slowed_steps(facts);
  std::uint64_t before = 0;
  for (const auto& [step, end] : ends_of_steps(facts)) {
    const bool own = step > facts.named_until && !slowed.contains(step);
    if (before > 0 && end > before && own) found[step] = static_cast<double>(end - before) / 1e9;
    before = end;
  }
  return found;
}

std::uint32_t ended_step(const ledger::Mark& mark) {
  const bool end = mark.name == MarkName::optimizer_end || mark.name == MarkName::step_end;
  return end ? mark.step : 0;
}

void take_times(report::RunResult& result, const ingest::RunFacts& facts) {
  const auto steps = step_durations(facts);
  if (steps.empty()) return;
  std::vector<double> sorted;
  for (const auto& [step, seconds] : steps) sorted.push_back(seconds);
  std::ranges::sort(sorted);
  result.times = {sorted.size(), at_share(sorted, 0.5), at_share(sorted, 0.05), at_share(sorted, 0.95)};
  result.throughput = throughput_of(steps, facts.tokens);
}

}  // namespace ullage::cli
