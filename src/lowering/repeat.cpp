// SPDX-License-Identifier: Apache-2.0
#include "lowering/repeat.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ullage::lowering {
namespace {

using program::Event;
using program::Mark;
using program::Program;
using program::TensorId;

/// The step that a program ends with.
struct LastStep {
  std::size_t mark = 0, event = 0, first_operator = 0;
  TensorId tensor = 0;  ///< the first that it asked for
};

std::optional<LastStep> find_step(const Program& program, std::uint32_t step) {
  const auto mark = std::ranges::find(program.marks, step, &Mark::step);
  if (mark == program.marks.end()) return std::nullopt;
  LastStep found{static_cast<std::size_t>(mark - program.marks.begin()), mark->event, mark->first_operator, 0};
  const auto tensor =
      std::ranges::lower_bound(program.tensors, found.first_operator, std::less<>{}, &program::Tensor::by);
  found.tensor = static_cast<TensorId>(tensor - program.tensors.begin());
  return found;
}

using Renamed = std::unordered_map<TensorId, TensorId>;

/// What the step freed that older ones had asked for, and what it left in its place.
std::optional<Renamed> successors(const Program& program, const LastStep& step) {
  std::vector<TensorId> gone;
  std::vector<bool> lives(program.tensors.size() - step.tensor);
  for (std::size_t i = step.event; i < program.events.size(); ++i) {
    const TensorId tensor = program::tensor_of(program.events[i]);
    if (tensor >= step.tensor)
      lives[tensor - step.tensor] = program::is_request(program.events[i]);
    else
      gone.push_back(tensor);
  }
  std::ranges::sort(gone);
  Renamed renamed;
  std::size_t next = 0;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    if (!lives[i]) continue;
    const auto left = static_cast<TensorId>(step.tensor + i);
    if (next == gone.size() || program.tensors[gone[next]].bytes != program.tensors[left].bytes) return std::nullopt;
    renamed.emplace(gone[next++], left);
  }
  if (next != gone.size()) return std::nullopt;
  return renamed;
}

}  // namespace

bool can_repeat(const Program& program, std::uint32_t step) {
  const auto last = find_step(program, step);
  return last && successors(program, *last);
}

bool repeat_step(Program& program, std::uint32_t step) {
  const auto last = find_step(program, step - 1);
  if (!last) return false;
  const auto renamed = successors(program, *last);
  if (!renamed) return false;
  const std::size_t events = program.events.size(), operators = program.operators.size();
  const std::size_t tensors = program.tensors.size(), marks = program.marks.size();
  const auto later = static_cast<TensorId>(tensors - last->tensor);
  for (std::size_t i = last->mark; i < marks; ++i) {
    Mark mark = program.marks[i];
    mark.event += events - last->event, mark.first_operator += operators - last->first_operator, mark.step = step;
    program.marks.push_back(mark);
  }
  program.operators.reserve(operators + (operators - last->first_operator));
  for (std::size_t i = last->first_operator; i < operators; ++i) program.operators.push_back(program.operators[i]);
  program.tensors.reserve(tensors + later);
  for (std::size_t i = last->tensor; i < tensors; ++i) {
    program::Tensor tensor = program.tensors[i];
    tensor.by += static_cast<program::OperatorId>(operators - last->first_operator);
    program.tensors.push_back(tensor);
  }
  program.events.reserve(events + (events - last->event));
  for (std::size_t i = last->event; i < events; ++i) {
    const TensorId old = program::tensor_of(program.events[i]);
    const TensorId tensor = old >= last->tensor ? old + later : renamed->at(old);
    program.events.push_back(program::is_request(program.events[i]) ? static_cast<Event>(tensor)
                                                                    : ~static_cast<Event>(tensor));
  }
  return true;
}

}  // namespace ullage::lowering
