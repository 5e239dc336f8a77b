// SPDX-License-Identifier: Apache-2.0
#include "findings/unreached.hpp"

#include <algorithm>
#include <map>
#include <string_view>
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

bool outlives_operator(const Subject& subject, AllocationId id, timeline::CallId call) {
  const auto& trace = *subject.facts().run.trace;
  const std::uint32_t freed = subject.allocations().freed[id];
  if (freed == Allocations::never) return true;
  while (trace.calls.parent[call] != timeline::no_call &&
         trace.calls.kind[trace.calls.parent[call]] == timeline::CallKind::operation)
    call = trace.calls.parent[call];
  return subject.timeline().events.time_us[freed] * 1000 > trace.base_ns + trace.calls.end_ns[call];
}

/// What the nodes of one operator of one module came to.
struct Occurrences {
  std::size_t last = 0;      ///< when the last of them was made
  std::size_t last_ran = 0;  ///< of those that a backward pass ran; 0 when none was
};
using Origin = std::pair<std::string_view, std::string_view>;

class UnreachedFinder {
 public:
  explicit UnreachedFinder(const Subject& subject)
      : subject_(subject), nodes_(*subject.facts().run.trace), covered_(covered_events(subject)) {}

  std::vector<AllocationId> run() {
    const auto calls = subject_.facts().calls;
    std::vector<AllocationId> candidates;
    for (auto id = static_cast<AllocationId>(subject_.allocations().before_trace); id < calls.size(); ++id) {
      if (calls[id] == timeline::no_call) continue;
      const auto fate = nodes_.fate_of(calls[id]);
      if (fate == GraphNodes::Fate::unknown) continue;
      Occurrences& sum = occurrences_[origin_of(id)];
      sum.last = subject_.allocations().born[id];
      if (fate == GraphNodes::Fate::ran) sum.last_ran = sum.last;
      if (fate == GraphNodes::Fate::never_ran && outlives_operator(subject_, id, calls[id])) candidates.push_back(id);
    }
    std::erase_if(candidates, [&](AllocationId id) { return !decided(id); });
    return candidates;
  }

 private:
  [[nodiscard]] Origin origin_of(AllocationId id) const { return {subject_.module(id), subject_.operation(id)}; }

  // Where the forward ends in which it was made; without marks, the next one begins.
  [[nodiscard]] std::size_t end_of_forward(std::size_t born) const {
    for (const Forward& forward : subject_.forwards()) {
      if (born >= forward.begin && born < forward.end) return forward.end;
    }
    const auto next = std::ranges::upper_bound(subject_.rounds(), born);
    return next == subject_.rounds().end() ? covered_ : *next;
  }

  // Whether its backward pass would have been seen: a later one of its kind was reached, or none of its kind ever was
  // and the module has been called again. What a backward pass gives up after the record has ended was reached by it.
  [[nodiscard]] bool decided(AllocationId id) const {
    // Without any: a run that ended well has none; one that failed may have been on its way to it.
    if (!subject_.has(PhaseName::backward)) return subject_.facts().fits;
    const auto* birth = subject_.birth(id);
    const auto* death = subject_.death(id);
    if (birth != nullptr && birth->name == PhaseName::optimizer) return false;
    if (death != nullptr && death->name == PhaseName::backward && subject_.allocations().freed[id] >= covered_)
      return false;
    const Occurrences& kind = occurrences_.at(origin_of(id));
    const std::size_t born = subject_.allocations().born[id];
    return kind.last_ran > 0 ? born < kind.last_ran : kind.last >= end_of_forward(born);
  }

  const Subject& subject_;
  GraphNodes nodes_;
  std::size_t covered_;
  std::map<Origin, Occurrences> occurrences_;
};

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

Unreached find_unreached(const Subject& subject) {
  Unreached result;
  if (subject.facts().run.trace == nullptr || subject.facts().calls.empty()) return result;
  result.all = UnreachedFinder(subject).run();
  const auto next_round = std::ranges::upper_bound(subject.rounds(), covered_events(subject));
  result.ends_early = subject.rounds().end() - next_round > 1;
  const std::size_t at = highest(subject, result.all, &result.bytes_at_most);
  for (const AllocationId id : result.all) {
    if (subject.allocations().live_at(id, subject.facts().peak.events)) result.at_peak.push_back(id);
    if (subject.allocations().live_at(id, at)) result.at_most.push_back(id);
  }
  return result;
}

}  // namespace

const Unreached& unreached_in(const Subject& subject) {
  if (subject.unreached_ == nullptr) subject.unreached_ = std::make_unique<const Unreached>(find_unreached(subject));
  return *subject.unreached_;
}

}  // namespace ullage::findings
