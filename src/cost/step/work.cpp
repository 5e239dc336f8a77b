// SPDX-License-Identifier: Apache-2.0
#include "cost/step/work.hpp"

#include <algorithm>

namespace ullage::cost {
namespace {

Pass pass_of(const program::Operator& op, program::Phase phase) {
  if (op.recomputed) return Pass::recomputed;
  if (phase == program::Phase::backward) return Pass::backward;
  return phase == program::Phase::optimizer ? Pass::optimizer : Pass::forward;
}

}  // namespace

std::string_view name_of(Pass pass) {
  constexpr std::array<std::string_view, passes.size()> names{"forward", "recomputed", "backward", "optimizer"};
  return names[static_cast<std::size_t>(pass)];
}

std::string_view name_of(OperatorWork work) {
  constexpr std::array<std::string_view, operator_classes.size()> names{
      "other", "matmul", "attention", "pointwise", "reduction", "copy", "gather", "optimizer"};
  return names[static_cast<std::size_t>(work)];
}

WorkTotal& WorkTotal::operator+=(const WorkTotal& other) {
  flops += other.flops;
  bytes += other.bytes;
  operators += other.operators;
  launches += other.launches;
  return *this;
}

WorkTotal StepWork::of(Pass pass) const {
  WorkTotal sum;
  for (const WorkTotal& cell : cells[static_cast<std::size_t>(pass)]) sum += cell;
  return sum;
}

WorkTotal StepWork::of(OperatorWork work) const {
  WorkTotal sum;
  for (const Pass pass : passes) sum += of(pass, work);
  return sum;
}

WorkTotal StepWork::all() const {
  WorkTotal sum;
  for (const Pass pass : passes) sum += of(pass);
  return sum;
}

void for_each_operator(const program::Program& program, std::optional<std::uint32_t> step,
                       const std::function<void(const program::Operator&, Pass)>& visit) {
  const std::vector<program::Mark>& marks = program.marks;  // steps come in order
  const std::uint32_t chosen = step ? *step : marks.empty() ? 0 : marks.back().step;
  const auto first = std::ranges::lower_bound(marks, chosen, {}, &program::Mark::step);
  for (auto at = first; at != marks.end() && at->step == chosen; ++at) {
    const program::Mark& mark = *at;
    if (mark.phase == program::Phase::load || mark.phase == program::Phase::other) continue;
    const std::size_t end = at + 1 != marks.end() ? (at + 1)->first_operator : program.operators.size();
    for (std::size_t op = mark.first_operator; op < std::min(end, program.operators.size()); ++op)
      visit(program.operators[op], pass_of(program.operators[op], mark.phase));
  }
}

StepWork work_of(const program::Program& program, std::optional<std::uint32_t> step) {
  StepWork total;
  for_each_operator(program, step, [&](const program::Operator& op, Pass pass) {
    total.cells[static_cast<std::size_t>(pass)][static_cast<std::size_t>(op.work)] +=
        {op.flops, op.bytes, 1, op.launches};
  });
  return total;
}

}  // namespace ullage::cost
