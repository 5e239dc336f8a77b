// SPDX-License-Identifier: Apache-2.0
#include "findings/unreached.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "attribution/graph_nodes.hpp"

namespace ullage::findings {

namespace {

using attribution::GraphNodes;
using timeline::Allocations;

// How many events the record of operators covers.
std::size_t covered_events(const Subject& subject) {
  const auto calls = subject.facts().calls;
  for (std::size_t id = calls.size(); id-- > subject.allocations().before_trace;) {
    if (calls[id] != timeline::no_call) return subject.allocations().born[id] + 1;
  }
  return 0;
}

// Whether its backward pass would have been seen.
bool decided(const Subject& subject, AllocationId id, std::size_t covered) {
  const auto& all = subject.allocations();
  if (all.freed[id] != Allocations::never && all.freed[id] < covered) return true;
  const auto next = std::ranges::upper_bound(subject.rounds(), all.born[id]);
  return next != subject.rounds().end() && *next <= covered;
}

bool outlives_operator(const Subject& subject, AllocationId id, timeline::CallId call) {
  const auto& trace = *subject.facts().run.trace;
  const std::uint32_t freed = subject.allocations().freed[id];
  if (freed == Allocations::never) return true;
  while (trace.calls.parent[call] != timeline::no_call &&
         trace.calls.kind[trace.calls.parent[call]] == timeline::CallKind::operation)
    call = trace.calls.parent[call];
  return subject.timeline().events.time_us[freed] * 1000 > trace.base_ns + trace.calls.end_ns[call];
}

std::vector<AllocationId> unreached_allocations(const Subject& subject) {
  const GraphNodes nodes(*subject.facts().run.trace);
  const std::size_t covered = covered_events(subject);
  const auto calls = subject.facts().calls;
  std::vector<AllocationId> result;
  for (auto id = static_cast<AllocationId>(subject.allocations().before_trace); id < calls.size(); ++id) {
    if (calls[id] == timeline::no_call || !decided(subject, id, covered)) continue;
    const auto* birth = subject.birth(id);
    if (birth != nullptr && birth->name == PhaseName::optimizer) continue;
    if (nodes.fate_of(calls[id]) == GraphNodes::Fate::never_ran && outlives_operator(subject, id, calls[id]))
      result.push_back(id);
  }
  return result;
}

// The event before which the most bytes of these were alive.
std::size_t highest(const Subject& subject, const std::vector<AllocationId>& allocations, std::uint64_t* most) {
  std::map<std::size_t, std::int64_t> changes;
  for (const AllocationId id : allocations) {
    const auto bytes = static_cast<std::int64_t>(subject.bytes(id));
    changes[subject.allocations().born[id] + std::size_t{1}] += bytes;
    if (subject.allocations().freed[id] != Allocations::never)
      changes[subject.allocations().freed[id] + std::size_t{1}] -= bytes;
  }
  std::int64_t now = 0, best = 0;
  std::size_t at = 0;
  for (const auto& [events, change] : changes) {
    now += change;
    if (now > best) best = now, at = events;
  }
  *most = static_cast<std::uint64_t>(best);
  return at;
}

}  // namespace

Unreached unreached_in(const Subject& subject) {
  Unreached result;
  if (subject.facts().run.trace == nullptr || subject.facts().calls.empty()) return result;
  result.all = unreached_allocations(subject);
  const auto& all = result.all;
  const std::size_t at = highest(subject, all, &result.bytes_at_most);
  for (const AllocationId id : all) {
    if (subject.allocations().live_at(id, subject.facts().peak.events)) result.at_peak.push_back(id);
    if (subject.allocations().live_at(id, at)) result.at_most.push_back(id);
  }
  return result;
}

}  // namespace ullage::findings
