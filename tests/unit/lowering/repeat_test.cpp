// SPDX-License-Identifier: Apache-2.0
#include "lowering/repeat.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::lowering {
namespace {

using program::Phase;
using program::Program;

/// A parameter; two steps that each ask for a temporary and a loss, the second of which takes the first's loss away.
Program two_steps(std::uint64_t second_loss) {
  Program program;
  const auto enter = [&](Phase phase, std::uint32_t step) {
    program.marks.push_back({program.events.size(), program.operators.size(), phase, step, step > 0 ? 1U : 0U});
  };
  const auto ask = [&](std::uint64_t bytes) {
    program.operators.emplace_back();
    program.events.push_back(static_cast<program::Event>(program.tensors.size()));
    program.tensors.push_back({bytes, {}, static_cast<program::OperatorId>(program.operators.size() - 1)});
  };
  enter(Phase::load, 0);
  ask(100);
  enter(Phase::forward, 1);
  ask(10);
  ask(4);
  program.events.push_back(~1);
  enter(Phase::forward, 2);
  ask(10);
  ask(second_loss);
  program.events.push_back(~2);
  program.events.push_back(~3);
  return program;
}

TEST(RepeatStep, TheNewStepFreesWhatTheLastOneLeft) {
  Program program = two_steps(4);
  ASSERT_TRUE(repeat_step(program, 3));
  EXPECT_EQ(program.events, (std::vector<program::Event>{0, 1, 2, ~1, 3, 4, ~2, ~3, 5, 6, ~4, ~5}));
  ASSERT_EQ(program.marks.size(), 4u);
  EXPECT_EQ(program.marks[3].step, 3u);
  EXPECT_EQ(program.marks[3].event, 8u);
  EXPECT_EQ(program.marks[3].first_operator, 5u);
  EXPECT_EQ(program.tensors[6].bytes, 4u);
  EXPECT_EQ(program.tensors[6].by, 6u);
  ASSERT_TRUE(repeat_step(program, 4));
  EXPECT_EQ(program.events.back(), ~7);
  EXPECT_EQ(program.events[program.events.size() - 2], ~6);
}

TEST(RepeatStep, AStepThatLeavesSomethingElseIsNotRepeated) {
  Program program = two_steps(8);
  const auto before = program.events;
  EXPECT_FALSE(repeat_step(program, 3));
  EXPECT_EQ(program.events, before);
  EXPECT_FALSE(repeat_step(program, 7));
}

}  // namespace
}  // namespace ullage::lowering
