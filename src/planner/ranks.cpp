// SPDX-License-Identifier: Apache-2.0
#include "planner/ranks.hpp"

#include <limits>
#include <vector>

namespace ullage::planner {
namespace {

using program::Phase;
using program::Program;
using program::Role;

constexpr unsigned never = std::numeric_limits<unsigned>::max();

/// The first ZeRO stage that shares a tensor.
unsigned shared_from(Role role, Phase phase) {
  switch (role) {
    case Role::parameter:
      return 3;
    case Role::gradient:
      return 2;
    case Role::optimizer_state:
      return 1;
    default:
      return phase == Phase::optimizer ? 1 : never;
  }
}

/// By operator.
std::vector<Phase> phases_of(const Program& program) {
  std::vector<Phase> phases(program.operators.size(), Phase::load);
  for (std::size_t i = 0; i < program.marks.size(); ++i) {
    const std::size_t end = i + 1 < program.marks.size() ? program.marks[i + 1].first_operator : phases.size();
    for (std::size_t j = program.marks[i].first_operator; j < end; ++j) phases[j] = program.marks[i].phase;
  }
  return phases;
}

}  // namespace

Program of_one_rank(Program program, unsigned zero, std::uint64_t ranks) {
  if (zero == 0 || ranks < 2) return program;
  const std::vector<Phase> phases = phases_of(program);
  for (program::Tensor& tensor : program.tensors)
    if (zero >= shared_from(tensor.role, phases[tensor.by])) tensor.bytes = (tensor.bytes + ranks - 1) / ranks;
  for (std::size_t i = 0; i < phases.size(); ++i)
    if (phases[i] == Phase::optimizer) program.operators[i].bytes /= static_cast<double>(ranks);
  return program;
}

}  // namespace ullage::planner
