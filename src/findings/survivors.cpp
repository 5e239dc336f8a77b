// SPDX-License-Identifier: Apache-2.0
#include "findings/survivors.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "findings/lines.hpp"

namespace ullage::findings {

namespace {

bool passing(Category category) {
  return category == Category::activations || category == Category::temporaries || category == Category::inputs ||
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
    if (all.freed[id] != timeline::Allocations::never || !passing(subject.category(id))) continue;
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
    if (birth == nullptr || birth->step == 0 || !passing(subject.category(id))) continue;
    if (subject.allocations().freed[id] == timeline::Allocations::never) continue;
    if (round_of(subject, subject.allocations().born[id]) < now) out.replaced.push_back(id);
  }
}

}  // namespace

Survivors survivors_of(const Subject& subject) {
  Survivors result;
  take_growing(subject, result);
  take_replaced(subject, result);
  return result;
}

std::vector<AllocationId> graph_of(const Subject& subject, std::vector<AllocationId> allocations) {
  std::set<std::string_view> operators;
  for (const AllocationId id : allocations) {
    const auto* birth = subject.birth(id);
    const bool inside = birth != nullptr && birth->name == PhaseName::forward && !subject.module(id).empty();
    if (inside && subject.category(id) == Category::activations) operators.insert(subject.operation(id));
  }
  if (operators.size() < 2) return {};
  std::erase_if(allocations, [&](AllocationId id) { return subject.category(id) != Category::activations; });
  return allocations;
}

}  // namespace ullage::findings
