// SPDX-License-Identifier: Apache-2.0
#include "planner/step_plan.hpp"

#include "lowering/lower.hpp"
#include "model/families.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

namespace ullage::planner {
namespace {

using program::Phase;
using program::Role;

constexpr std::uint64_t MiB = 1 << 20;

/// Writes a program down.
class Script {
 public:
  Script() { enter(Phase::load, 0); }
  void enter(Phase phase, std::uint32_t step) {
    program.marks.push_back({program.events.size(), program.operators.size(), phase, step, 0});
  }
  std::uint32_t ask(std::uint64_t bytes, Role role = Role::temporary, const char* name = "aten::empty") {
    auto& by = program.operators.emplace_back();
    by.name = name;
    by.module = program.module(0, "layer");
    const auto id = static_cast<std::uint32_t>(program.tensors.size());
    program.tensors.push_back({bytes, role, static_cast<program::OperatorId>(program.operators.size() - 1)});
    program.events.push_back(static_cast<program::Event>(id));
    return id;
  }
  void end(std::uint32_t id) { program.events.push_back(~static_cast<program::Event>(id)); }
  program::Program program;
};

std::uint64_t sum_of(const std::vector<ledger::Line>& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ledger::Line& line) { return sum + line.bytes; });
}

std::uint64_t bytes_of(const StepPlan& plan, std::string_view id) {
  for (const ledger::Line& line : plan.lines)
    if (line.id == id) return line.bytes;
  return 0;
}

TEST(RunProgram, LinesAreOfTheMomentWhenMostIsReserved) {
  Script script;
  (void)script.ask(30 * MiB, Role::parameter);
  script.enter(Phase::forward, 1);
  const auto passing = script.ask(20 * MiB, Role::activation, "aten::mm");
  (void)script.ask(100);
  script.end(passing);
  const StepPlan plan = run_program(script.program, {});
  EXPECT_EQ(plan.peak_allocated, 50 * MiB + 512);
  EXPECT_EQ(plan.peak_reserved, 52 * MiB);
  EXPECT_EQ(bytes_of(plan, "parameters"), 30 * MiB);
  EXPECT_EQ(bytes_of(plan, "activations"), 20 * MiB);
  EXPECT_EQ(bytes_of(plan, "temporaries"), 100u);
  EXPECT_EQ(bytes_of(plan, "rounding"), 412u);
  EXPECT_EQ(bytes_of(plan, "cached"), 2 * MiB - 512);
  EXPECT_EQ(sum_of(plan.lines), plan.peak_reserved);
  EXPECT_EQ(plan.reserved_at.phase, Phase::forward);
  EXPECT_EQ(plan.reserved_at.module, "layer");
  ASSERT_EQ(plan.phases.size(), 2u);
  EXPECT_EQ(plan.phases[0].reserved, 30 * MiB);
  EXPECT_EQ(plan.phases[1].allocated, 30 * MiB + 512);
  EXPECT_FALSE(plan.shortage);
}

TEST(RunProgram, FindsTheRequestThatIsTooMuch) {
  Script script;
  (void)script.ask(30 * MiB, Role::parameter);
  script.enter(Phase::forward, 1);
  (void)script.ask(10 * MiB, Role::activation, "aten::add");
  (void)script.ask(29 * MiB, Role::activation, "aten::mm");
  (void)script.ask(512);
  EXPECT_FALSE(run_program(script.program, {}).shortage);
  const StepPlan plan = run_program(script.program, {}, 50 * MiB);
  ASSERT_TRUE(plan.shortage);
  EXPECT_EQ(plan.shortage->requested, 30 * MiB) << "29 MiB in steps of 2";
  EXPECT_EQ(plan.shortage->moment.operation, "aten::mm");
  EXPECT_EQ(plan.shortage->moment.phase, Phase::forward);
  EXPECT_EQ(plan.peak_reserved, 40 * MiB) << "up to there";
  EXPECT_EQ(sum_of(plan.lines), plan.peak_reserved);
}

TEST(RunProgram, CachedMemoryIsGivenBackBeforeARequestFails) {
  Script script;
  script.end(script.ask(30 * MiB));
  (void)script.ask(40 * MiB);
  EXPECT_EQ(run_program(script.program, {}).peak_reserved, 70 * MiB);
  const StepPlan plan = run_program(script.program, {}, 50 * MiB);
  EXPECT_FALSE(plan.shortage);
  EXPECT_EQ(plan.retries, 1u);
  EXPECT_EQ(plan.peak_reserved, 40 * MiB);
}

TEST(RunProgram, AnEmptyProgramNeedsNothing) {
  EXPECT_EQ(run_program({}, {}).peak_reserved, 0u);
}

/// Requests of all sizes, and ends in any order.
program::Program random_program() {
  Script script;
  std::vector<std::uint32_t> live;
  const auto length = *rc::gen::inRange(1, 120);
  for (int i = 0; i < length; ++i) {
    if (i % 10 == 9) script.enter(Phase::forward, static_cast<std::uint32_t>(i / 10));
    if (!live.empty() && *rc::gen::inRange(0, 3) == 0) {
      const auto chosen = static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(live.size())));
      script.end(live[chosen]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(chosen));
      continue;
    }
    const std::uint64_t scale = *rc::gen::element<std::uint64_t>(512, 100'000, MiB, 20 * MiB);
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(1, scale);
    live.push_back(script.ask(bytes, static_cast<Role>(*rc::gen::inRange(0, 8))));
  }
  return script.program;
}

TEST(RunProgram, WhateverTheProgram) {
  EXPECT_TRUE(rc::check("adds up, and the limits are where they are said to be", [] {
    const program::Program program = random_program();
    const StepPlan plan = run_program(program, {});
    RC_ASSERT(!plan.shortage && plan.retries == 0);
    RC_ASSERT(sum_of(plan.lines) == plan.peak_reserved);
    for (const ledger::Line& line : plan.lines) RC_ASSERT(ledger::check(line).empty());
    RC_ASSERT(plan.peak_allocated <= plan.peak_reserved);
    RC_ASSERT(peak_of_requests(program) <= plan.peak_allocated);
    std::uint64_t allocated = 0, reserved = 0;
    for (const PhasePeak& phase : plan.phases) {
      allocated = std::max(allocated, phase.peak_allocated);
      reserved = std::max(reserved, phase.peak_reserved);
    }
    RC_ASSERT(allocated == plan.peak_allocated && reserved == plan.peak_reserved);
    const StepPlan enough = run_program(program, {}, plan.peak_reserved);
    RC_ASSERT(!enough.shortage && enough.peak_reserved == plan.peak_reserved);
    const StepPlan less = run_program(program, {}, plan.peak_allocated - 1);
    RC_ASSERT(less.shortage.has_value() && less.peak_reserved < plan.peak_allocated);
  }));
}

TEST(PeakOfRequests, OfFoldedLayersIsThatOfAll) {
  const auto model = model::describe(R"({"model_type": "gemma2", "num_hidden_layers": 23})", "config");
  ASSERT_TRUE(model);
  lowering::Setup setup;
  setup.attention = lowering::Attention::eager;
  for (const std::uint64_t regions : {0U, 1U, 2U}) {
    setup.checkpoint_every = regions;
    const auto folded = lowering::lower_folded(*model, setup, {});
    ASSERT_TRUE(folded);
    EXPECT_GT(folded->fold.more, 0u);
    EXPECT_EQ(peak_of_requests(*folded), peak_of_requests(*lowering::lower(*model, setup, {}))) << regions;
  }
}

}  // namespace
}  // namespace ullage::planner
