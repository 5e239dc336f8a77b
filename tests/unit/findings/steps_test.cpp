// SPDX-License-Identifier: Apache-2.0
// Rules that read what a run tells of its steps.
#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "findings/rule.hpp"

namespace ullage::findings {
namespace {

std::vector<Finding> find(const char* id, const RunSteps& steps) {
  const Rule* rule = rule_of(id);
  return rule->find_in_steps(*rule, steps);
}

ledger::Mark mark(ledger::MarkName name, std::uint32_t step, std::uint64_t allocated) {
  ledger::Mark made;
  made.name = name, made.step = step, made.counters.allocated = allocated;
  return made;
}

TEST(AllocatedAfterSteps, TheLastOptimizerEndsAStep) {
  using enum ledger::MarkName;
  const std::vector<ledger::Mark> marks{mark(load_begin, 0, 1),    mark(optimizer_end, 1, 2), mark(optimizer_end, 1, 3),
                                        mark(forward_begin, 2, 4), mark(optimizer_end, 2, 5), mark(run_end, 2, 6)};
  EXPECT_EQ(allocated_after_steps(marks), (std::vector<double>{3, 5}));
}

TEST(GrowthInSteps, OfARecordingOnly) {
  std::vector<ledger::Mark> marks;
  for (std::uint32_t step = 1; step <= 20; ++step)
    marks.push_back(mark(ledger::MarkName::optimizer_end, step, (50 + 2 * step) * mib));
  RunSteps steps;
  steps.marks = marks;
  EXPECT_TRUE(find("growth", steps).empty());
  steps.recorded = true;
  const auto found = find("growth", steps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 34 * mib);
  EXPECT_EQ(found[0].title, "memory grows by 2.00 MiB a step, with a confidence of more than 99.99 %");
  EXPECT_EQ(found[0].evidence[0], "allocated after step 3: 56.00 MiB; after step 20: 90.00 MiB");
  EXPECT_EQ(found[0].evidence[1], "it rose in 17 of 17 steps, by 2.00 MiB at most");
}

TEST(ZeroGradMissing, OneStepIsNone) {
  const attribution::KeptGradients seen[] = {{2, "train.py:9 main", 4, 8 * mib}, {3, "train.py:9 main", 4, 8 * mib}};
  RunSteps steps;
  steps.kept_gradients = {seen, 1};
  EXPECT_TRUE(find("zero_grad_missing", steps).empty());
  steps.kept_gradients = seen;
  const auto found = find("zero_grad_missing", steps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].level, FindingLevel::problem);
  EXPECT_EQ(found[0].code.line, "train.py:9 main");
  EXPECT_EQ(found[0].bytes, 8 * mib);
  EXPECT_EQ(found[0].evidence[0], "4 gradients, the same tensors as after the step before, in steps 2, 3");
}

RunSteps waiting(std::vector<StepTime> times) {
  RunSteps steps;
  steps.recorded = true;
  steps.times = std::move(times);
  return steps;
}

TEST(DataWait, TheMedianCounts) {
  EXPECT_TRUE(find("data_wait", waiting({{4, 1, 0.9}, {5, 1, 0.1}, {6, 1, 0.1}, {7, 1, 0.1}, {8, 1, 0.9}})).empty());
  const auto found = find("data_wait", waiting({{4, 1, 0.1}, {5, 1, 0.4}, {6, 1, 0.4}, {7, 1, 0.4}, {8, 1, 0.1}}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "40 % of a step is spent waiting for data");
  EXPECT_EQ(found[0].evidence[1], "in 3 of 5 steps it was 20 % or more");
}

TEST(DataWait, FewStepsOrShortWaitsAreNone) {
  EXPECT_TRUE(find("data_wait", waiting({{4, 1, 0.9}, {5, 1, 0.9}, {6, 1, 0.9}, {7, 1, 0.9}})).empty());
  EXPECT_TRUE(find("data_wait", waiting(std::vector<StepTime>(9, {1, 0.001, 0.0009}))).empty());
}

TEST(WorkersMemory, PinnedBlocksArePowersOfTwo) {
  const attribution::Loader loader[] = {{4, true, 2, 65 * mib, 1024 * mib}};
  RunSteps steps;
  steps.loaders = loader;
  EXPECT_TRUE(find("workers_memory", steps).empty());  // 8 x 128 MiB just fit
  steps.host_bytes = mib;
  const auto found = find("workers_memory", steps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 1024 * mib);
  EXPECT_EQ(found[0].title, "4 workers' batches in pinned memory do not fit into the host's memory");
}

TEST(WorkersMemory, NotWhenTheBatchesAreASmallPart) {
  const attribution::Loader loader[] = {{4, false, 2, mib, 1024 * mib}};
  RunSteps steps;
  steps.loaders = loader;
  steps.host_bytes = 2048 * mib;
  EXPECT_TRUE(find("workers_memory", steps).empty());
}

TEST(WorkersMemory, NumbersOutOfRange) {
  const std::uint64_t most = ~std::uint64_t{0};
  const attribution::Loader loader[] = {{most, true, most, most, 1}, {most, false, most, most, most}};
  RunSteps steps;
  steps.loaders = loader;
  EXPECT_EQ(find("workers_memory", steps).size(), 1U);
}

TEST(RankImbalance, ATenthMore) {
  RunSteps steps;
  steps.ranks = {{0, 1000 * mib, "step 2 backward", 512}, {1, 920 * mib, "step 2 backward", 512}};
  EXPECT_TRUE(find("rank_imbalance", steps).empty());
  steps.ranks.push_back({2, 800 * mib, "step 1 backward", 256});
  const auto found = find("rank_imbalance", steps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].title, "rank 0 peaks 200.00 MiB above rank 2");
  EXPECT_EQ(found[0].evidence[2], "tokens of a step: 512 and 256");
}

TEST(OptimizerPeakInSteps, OnlyInTheFirstStep) {
  RunSteps steps;
  steps.recorded = true;
  const auto phase = [&](PhaseName name, std::uint32_t step, std::uint64_t peak) {
    ledger::Phase made;
    made.name = name, made.step = step, made.peak_allocated = peak * mib, made.allocated = 100 * mib;
    steps.phases.push_back(made);
  };
  phase(PhaseName::backward, 1, 300), phase(PhaseName::optimizer, 1, 400);
  phase(PhaseName::backward, 2, 310), phase(PhaseName::optimizer, 2, 200);
  const auto found = find("optimizer_peak", steps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 90 * mib);
  EXPECT_EQ(found[0].evidence[1], "in the first step only: later ones reach 200.00 MiB");
  steps.phases[0].peak_allocated = 395 * mib;
  EXPECT_TRUE(find("optimizer_peak", steps).empty());
}

TEST(Rules, EveryRuleReadsSomething) {
  for (const Rule* rule : rules()) EXPECT_TRUE(rule->find != nullptr || rule->find_in_steps != nullptr) << rule->id;
}

}  // namespace
}  // namespace ullage::findings
