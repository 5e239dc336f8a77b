// SPDX-License-Identifier: Apache-2.0
#include "planner/ranks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::planner {
namespace {

using program::Phase;
using program::Role;

/// A parameter, a gradient, an activation, a state and a temporary of the optimizer step, 10 bytes each.
program::Program sample() {
  program::Program program;
  const auto add = [&](Phase phase, Role role) {
    program.marks.push_back({program.events.size(), program.operators.size(), phase, 1, 0});
    program.operators.emplace_back().bytes = 100;
    program.events.push_back(static_cast<program::Event>(program.tensors.size()));
    program.tensors.push_back({10, role, static_cast<program::OperatorId>(program.operators.size() - 1)});
  };
  add(Phase::load, Role::parameter);
  add(Phase::forward, Role::activation);
  add(Phase::backward, Role::gradient);
  add(Phase::optimizer, Role::optimizer_state);
  add(Phase::optimizer, Role::temporary);
  return program;
}

std::vector<std::uint64_t> bytes_of(const program::Program& program) {
  std::vector<std::uint64_t> bytes;
  for (const program::Tensor& tensor : program.tensors) bytes.push_back(tensor.bytes);
  return bytes;
}

TEST(OfOneRank, EachStageSharesMoreAndSharesAreRoundedUp) {
  using Bytes = std::vector<std::uint64_t>;
  EXPECT_EQ(bytes_of(of_one_rank(sample(), 0, 4)), (Bytes{10, 10, 10, 10, 10}));
  EXPECT_EQ(bytes_of(of_one_rank(sample(), 1, 4)), (Bytes{10, 10, 10, 3, 3}));
  EXPECT_EQ(bytes_of(of_one_rank(sample(), 2, 4)), (Bytes{10, 10, 3, 3, 3}));
  EXPECT_EQ(bytes_of(of_one_rank(sample(), 3, 4)), (Bytes{3, 10, 3, 3, 3}));
  EXPECT_EQ(bytes_of(of_one_rank(sample(), 3, 1)), (Bytes{10, 10, 10, 10, 10}));
}

TEST(OfOneRank, TheOptimizerMovesTheRanksShareOfBytes) {
  const program::Program program = of_one_rank(sample(), 1, 4);
  EXPECT_EQ(program.operators[2].bytes, 100);
  EXPECT_EQ(program.operators[3].bytes, 25);
}

}  // namespace
}  // namespace ullage::planner
