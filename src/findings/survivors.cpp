// SPDX-License-Identifier: Apache-2.0
#include "findings/survivors.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "findings/lines.hpp"
#include "findings/unreached.hpp"

namespace ullage::findings {

namespace {

bool passing(const Subject& subject, AllocationId id) {
  const Category category = subject.category(id);
  return (category == Category::parameters && subject.kind(id) == "buffers") || category == Category::activations ||
         category == Category::temporaries || category == Category::inputs || category == Category::unattributed ||
         category == Category::communication;
}

std::size_t round_of(const Subject& subject, std::size_t event) {
  return static_cast<std::size_t>(std::ranges::upper_bound(subject.rounds(), event) - subject.rounds().begin());
}

// One line of code, or one operator of one module where no line is known.
using Origin = std::pair<std::string, std::string>;
Origin origin_of(const Subject& subject, AllocationId id, std::map<timeline::StackId, std::string>& lines) {
  const auto [line, is_new] = lines.try_emplace(subject.allocations().stack[id]);
  if (is_new) line->second = line_of(subject, id);
  if (!line->second.empty()) return {line->second, {}};
  return {std::string(subject.module(id)), std::string(subject.operation(id))};
}

/// What one origin holds at the end of each round.
struct Held {
  std::vector<std::int64_t> changes;  ///< by round; the last counts what is given up after all of them
  std::vector<AllocationId> at_the_end;
};

std::map<Origin, Held> held_by_origin(const Subject& subject) {
  const std::size_t rounds = subject.rounds().size();
  const auto& all = subject.allocations();
  std::map<timeline::StackId, std::string> lines;
  std::map<Origin, Held> held;
  for (auto id = static_cast<AllocationId>(all.before_trace); id < all.count(); ++id) {
    const std::size_t from = round_of(subject, all.born[id]);
    const bool lives_on = all.freed[id] == timeline::Allocations::never;
    const std::size_t to = lives_on ? rounds : round_of(subject, all.freed[id]);
    if (from >= to || !passing(subject, id)) continue;
    Held& sum = held[origin_of(subject, id, lines)];
    sum.changes.resize(rounds + 1);
    sum.changes[from] += static_cast<std::int64_t>(subject.bytes(id));
    sum.changes[to] -= static_cast<std::int64_t>(subject.bytes(id));
    if (to == rounds && from > 0) sum.at_the_end.push_back(id);
  }
  return held;
}

std::size_t rounds_of(const Subject& subject, const std::vector<AllocationId>& allocations) {
  std::set<std::size_t> rounds;
  for (const AllocationId id : allocations) rounds.insert(round_of(subject, subject.allocations().born[id]));
  return rounds.size();
}

bool alike(std::span<const std::int64_t> increases) {
  const auto [least, most] = std::ranges::minmax(increases);
  return least > 0 && most <= 2 * least;
}

bool alike_every_second(std::span<const std::int64_t> increases) {
  if (increases.size() < 4) return false;
  const bool odd = increases[0] == 0;
  std::vector<std::int64_t> those;
  for (std::size_t i = 0; i < increases.size(); ++i) {
    if (i % 2 == (odd ? 1 : 0))
      those.push_back(increases[i]);
    else if (increases[i] != 0)
      return false;
  }
  return alike(those);
}

void take_growing(const Subject& subject, Survivors& out) {
  const std::size_t rounds = subject.rounds().size();
  if (rounds < 4) return;
  out.increases = rounds - 2;
  for (auto& [origin, held] : held_by_origin(subject)) {
    const auto increases = std::span(held.changes).subspan(2, out.increases);
    const bool every_second = alike_every_second(increases);
    if (!alike(increases) && !every_second) continue;
    const auto sum = static_cast<std::uint64_t>(std::accumulate(increases.begin(), increases.end(), std::int64_t{0}));
    const std::size_t rounds_left = rounds_of(subject, held.at_the_end);
    out.growing.push_back({std::move(held.at_the_end), sum / out.increases, every_second, rounds_left > 1});
  }
}

// Operators that make a batch: it is there before the forward that uses it.
bool makes_data(std::string_view operation) {
  constexpr std::string_view operators[] = {
      "aten::to",    "aten::_to_copy", "aten::copy_",    "aten::rand",     "aten::randn",      "aten::randint",
      "aten::zeros", "aten::ones",     "aten::full",     "aten::arange",   "aten::empty",      "aten::tensor",
      "aten::cat",   "aten::stack",    "aten::randperm", "aten::linspace", "aten::randn_like", "aten::rand_like"};
  return operation.empty() || std::ranges::find(operators, operation) != std::end(operators);
}

// Addresses of what was given to the last forward before the peak.
std::set<std::uint64_t> inputs_at_peak(const Subject& subject) {
  constexpr auto input = static_cast<std::size_t>(ledger::TensorClass::input);
  const auto& run = subject.facts().run;
  std::set<std::uint64_t> addresses;
  for (std::size_t i = run.lists.size(); i-- > 0;) {
    const auto& list = run.lists[i];
    const bool before =
        list.mark < run.history.cuts.size() && run.history.cuts[list.mark] < subject.facts().peak.events;
    if (!before || !list.complete[input]) continue;
    for (const auto& tensor : list.tensors) {
      if (tensor.tensor_class == ledger::TensorClass::input) addresses.insert(tensor.address);
    }
    break;
  }
  return addresses;
}

// The event at which the step of the peak begins to make something: its batch, else its first forward.
std::size_t begin_of_step(const Subject& subject, const attribution::PhaseSpan& peak) {
  std::size_t forward = subject.facts().peak.events;
  for (const auto& phase : subject.phases()) {
    if (phase.step == peak.step && phase.name == PhaseName::forward) forward = std::min(forward, phase.begin);
  }
  const std::size_t last_step = subject.round_before(forward);
  const auto inputs = inputs_at_peak(subject);
  std::size_t begin = forward;
  for (const AllocationId id : subject.live()) {
    const std::size_t born = subject.allocations().older(id) ? 0 : subject.allocations().born[id];
    if (born >= last_step && inputs.contains(subject.allocations().address[id])) begin = std::min(begin, born);
  }
  return begin;
}

// Of the step before, made of results: not a batch, a queue, a buffer.
void take_replaced(const Subject& subject, Survivors& out) {
  const auto* peak = subject.peak_phase();
  if (peak == nullptr) return;
  const std::size_t begin = begin_of_step(subject, *peak);
  for (const AllocationId id : subject.live()) {
    const auto* birth = subject.birth(id);
    if (birth == nullptr || birth->step == 0 || birth->step + 1 < peak->step || !passing(subject, id)) continue;
    const bool given_up = subject.allocations().freed[id] != timeline::Allocations::never;
    if (!given_up || subject.category(id) == Category::parameters || makes_data(subject.operation(id))) continue;
    if (subject.allocations().born[id] < begin) out.replaced.push_back(id);
  }
}

// The last forward in training that began before the peak; nothing without marks.
const Forward* training_forward(const Subject& subject) {
  const Forward* found = nullptr;
  for (const Forward& forward : subject.forwards()) {
    const bool trains = forward.training.value_or(true) && forward.grad_enabled.value_or(true);
    if (forward.begin < subject.facts().peak.events && trains) found = &forward;
  }
  return found;
}

// What no backward pass comes to, and which was there before the training forward of the peak began.
std::vector<AllocationId> older_graph(const Subject& subject, const Unreached& unreached) {
  std::vector<AllocationId> result;
  const Forward* forward = training_forward(subject);
  if (forward == nullptr) return result;
  for (const AllocationId id : unreached.at_peak) {
    if (subject.allocations().born[id] < forward->begin) result.push_back(id);
  }
  return result;
}

// Those of a forward inside modules, if at least two operators made them.
std::vector<AllocationId> inside_modules(const Subject& subject, const std::vector<AllocationId>& allocations) {
  std::set<std::string_view> operators;
  std::vector<AllocationId> result;
  for (const AllocationId id : allocations) {
    const auto* birth = subject.birth(id);
    if (subject.category(id) != Category::activations || birth == nullptr || birth->name != PhaseName::forward)
      continue;
    result.push_back(id);
    if (!subject.module(id).empty()) operators.insert(subject.operation(id));
  }
  if (operators.size() < 2) result.clear();
  return result;
}

// A part is enough: what was made late is not decided yet.
bool partly_unreached(const Subject& subject, const std::vector<AllocationId>& graph, const Unreached& unreached) {
  if (graph.empty()) return false;
  std::vector<AllocationId> both;
  std::ranges::set_intersection(graph, unreached.all, std::back_inserter(both));
  return sum_of(subject, both) * 5 >= sum_of(subject, graph);
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

const Survivors& survivors_of(const Subject& subject) {
  if (subject.survivors_ == nullptr) {
    auto made = std::make_unique<Survivors>();
    take_growing(subject, *made);
    take_replaced(subject, *made);
    subject.survivors_ = std::move(made);
  }
  return *subject.survivors_;
}

KeptGraph kept_graph(const Subject& subject, const Survivors& survivors) {
  KeptGraph result;
  const Unreached& unreached = unreached_in(subject);
  std::vector<AllocationId> growing;
  std::uint64_t per_round = 0;
  for (const Growing& one : survivors.growing) {
    growing.insert(growing.end(), one.allocations.begin(), one.allocations.end());
    per_round += one.per_round;
  }
  std::ranges::sort(growing);
  auto graph = inside_modules(subject, growing);
  result.grows = !graph.empty() &&
                 (partly_unreached(subject, graph, unreached) || per_round * 2 >= activations_of_a_step(subject));
  if (!result.grows) graph = inside_modules(subject, older_graph(subject, unreached));
  result.allocations = std::move(graph);
  return result;
}

}  // namespace ullage::findings
