// SPDX-License-Identifier: Apache-2.0
#include "findings/survivors.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "findings/lines.hpp"
#include "findings/unreached.hpp"

namespace ullage::findings {

namespace {

bool passing(const Subject& subject, AllocationId id) {
  const Category category = subject.category(id);
  return (category == Category::parameters && subject.kind(id) == "buffers") || category == Category::activations || category == Category::temporaries || category == Category::inputs ||
         category == Category::unattributed || category == Category::communication;
}

std::size_t round_of(const Subject& subject, std::size_t event) {
  return static_cast<std::size_t>(std::ranges::upper_bound(subject.rounds(), event) - subject.rounds().begin());
}

// One line of code, or one operator of one module where no line is known.
using Origin = std::pair<std::string, std::string>;
Origin origin_of(const Subject& subject, AllocationId id) {
  std::string line = line_of(subject, id);
  if (!line.empty()) return {std::move(line), {}};
  return {std::string(subject.module(id)), std::string(subject.operation(id))};
}

struct Left {
  std::set<std::size_t> rounds;
  std::vector<AllocationId> allocations;
};

void take_growing(const Subject& subject, Survivors& out) {
  const std::size_t rounds = subject.rounds().size();
  if (rounds < 4) return;
  const std::size_t last = rounds - 2;  // what the last round leaves may be given up by the next
  const auto& all = subject.allocations();
  std::map<Origin, Left> left;
  for (auto id = static_cast<AllocationId>(all.before_trace); id < all.count(); ++id) {
    if (all.freed[id] != timeline::Allocations::never || !passing(subject, id)) continue;
    const std::size_t round = round_of(subject, all.born[id]);
    if (round == 0 || round > last) continue;
    Left& sum = left[origin_of(subject, id)];
    sum.rounds.insert(round);
    sum.allocations.push_back(id);
  }
  for (const auto& [origin, sum] : left) {
    if (sum.rounds.size() < last) continue;
    out.growing.insert(out.growing.end(), sum.allocations.begin(), sum.allocations.end());
  }
  out.rounds = last;
  std::ranges::sort(out.growing);
}

void take_replaced(const Subject& subject, Survivors& out) {
  const std::size_t events = subject.facts().peak.events;
  const std::size_t now = events == 0 ? 0 : round_of(subject, events - 1);
  for (const AllocationId id : subject.live()) {
    const auto* birth = subject.birth(id);
    if (birth == nullptr || birth->step == 0 || !passing(subject, id)) continue;
    if (subject.allocations().freed[id] == timeline::Allocations::never) continue;
    if (round_of(subject, subject.allocations().born[id]) < now) out.replaced.push_back(id);
  }
}

// Those of a forward inside modules, if at least two operators made them.
std::vector<AllocationId> inside_modules(const Subject& subject, const std::vector<AllocationId>& allocations) {
  std::set<std::string_view> operators;
  std::vector<AllocationId> result;
  for (const AllocationId id : allocations) {
    const auto* birth = subject.birth(id);
    if (subject.category(id) != Category::activations || birth == nullptr || birth->name != PhaseName::forward) continue;
    result.push_back(id);
    if (!subject.module(id).empty()) operators.insert(subject.operation(id));
  }
  if (operators.size() < 2) result.clear();
  return result;
}

bool mostly_unreached(const Subject& subject, const std::vector<AllocationId>& graph, const Unreached& unreached) {
  std::vector<AllocationId> both;
  std::ranges::set_intersection(graph, unreached.all, std::back_inserter(both));
  return sum_of(subject, both) * 2 >= sum_of(subject, graph);
}

// What the forward passes of the peak's step kept.
std::uint64_t activations_of_a_step(const Subject& subject) {
  const auto* peak = subject.peak_phase();
  std::uint64_t sum = 0;
  for (AllocationId id = 0; peak != nullptr && id < subject.allocations().count(); ++id) {
    const auto* birth = subject.birth(id);
    if (birth != nullptr && birth->step == peak->step && birth->name == PhaseName::forward &&
        subject.category(id) == Category::activations)
      sum += subject.bytes(id);
  }
  return sum;
}

}  // namespace

Survivors survivors_of(const Subject& subject) {
  Survivors result;
  take_growing(subject, result);
  take_replaced(subject, result);
  return result;
}

KeptGraph kept_graph(const Subject& subject, const Survivors& survivors) {
  KeptGraph result;
  const Unreached unreached = unreached_in(subject);
  auto graph = inside_modules(subject, survivors.growing);
  const std::uint64_t bytes = sum_of(subject, graph);
  result.grows = !graph.empty() && (mostly_unreached(subject, graph, unreached) ||
                                    bytes / survivors.rounds * 2 >= activations_of_a_step(subject));
  if (!result.grows) {
    graph = inside_modules(subject, survivors.replaced);
    if (!mostly_unreached(subject, graph, unreached)) graph.clear();
  }
  result.allocations = std::move(graph);
  return result;
}

}  // namespace ullage::findings
