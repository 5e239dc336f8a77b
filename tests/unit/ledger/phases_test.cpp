// SPDX-License-Identifier: Apache-2.0
#include "ledger/phases.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace ullage::ledger {
namespace {

using enum MarkName;

std::vector<Mark> marks_of(std::initializer_list<MarkName> names) {
  std::vector<Mark> marks;
  std::uint32_t step = 0, micro_batch = 0;
  for (const MarkName name : names) {
    if (name == forward_begin) {
      if (micro_batch == 0) ++step;
      ++micro_batch;
    }
    marks.push_back({static_cast<std::uint32_t>(marks.size()), name, step, micro_batch, "", {}});
    if (name == optimizer_end) micro_batch = 0;
  }
  return marks;
}

std::string text(const std::vector<Phase>& phases) {
  std::string result;
  for (const Phase& p : phases) {
    result += std::string(result.empty() ? "" : " ") + name_of(p.name) + std::to_string(p.step) + "." +
              std::to_string(p.micro_batch) + "[" + std::to_string(p.begin_mark) + "," + std::to_string(p.end_mark) +
              "]";
  }
  return result;
}

TEST(Phases, OfAPlainLoop) {
  const auto marks = marks_of({load_begin, forward_begin, forward_end, backward_begin, backward_end, optimizer_begin,
                               optimizer_end, forward_begin, forward_end, optimizer_begin, optimizer_end, run_end});
  EXPECT_EQ(text(split_phases(marks)),
            "load0.0[0,1] forward1.1[1,2] backward1.1[2,5] optimizer1.0[5,6] other1.0[6,7] forward2.1[7,8] "
            "backward2.1[8,9] optimizer2.0[9,10] other2.0[10,11]");
}

TEST(Phases, OfStepsWhoseEndAloneWasMarked) {
  auto marks = marks_of({load_begin, step_end, other, step_end, run_end});
  marks[1].step = 1;
  marks[3].step = 2;
  EXPECT_EQ(text(split_phases(marks)), "run1.0[0,1] run2.0[1,3] other0.0[3,4]");
  marks.pop_back();
  EXPECT_EQ(text(split_phases(marks)), "run1.0[0,1] run2.0[1,3]");
}

TEST(Phases, PeaksSinceTheMarkBeforeAreThePhases) {
  auto marks = marks_of({load_begin, forward_begin, forward_end, optimizer_begin, optimizer_end, run_end});
  const std::uint64_t since[] = {0, 10, 70, 50, 20, 5}, now[] = {1, 2, 30, 20, 4, 4};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    auto& counters = marks[i].counters;
    counters.since_known = true;
    counters.time_ns = 1000000000 * (i + 1);
    counters.allocated = counters.reserved = now[i];
    counters.since_allocated = counters.since_reserved = counters.since_requested = since[i];
    counters.peak_allocated = counters.peak_reserved = 1000;  // of the script's own last reset: says nothing here
  }
  auto phases = split_phases(marks);
  measure_phases(phases, marks, {}, KnownBy::measured);
  std::vector<std::uint64_t> peaks, reserved;
  for (const auto& phase : phases) peaks.push_back(phase.peak_allocated), reserved.push_back(phase.peak_reserved);
  EXPECT_EQ(peaks, (std::vector<std::uint64_t>{10, 70, 50, 20, 5}));
  EXPECT_EQ(reserved, peaks);
  EXPECT_EQ(phases.at(1).seconds, 1.0);
}

TEST(Phases, OfMicroBatches) {
  const auto marks = marks_of({load_begin, forward_begin, forward_end, backward_begin, forward_begin, forward_end,
                               backward_begin, optimizer_begin, optimizer_end});
  EXPECT_EQ(
      text(split_phases(marks)),
      "load0.0[0,1] forward1.1[1,2] backward1.1[2,4] forward1.2[4,5] backward1.2[5,7] optimizer1.0[7,8] other1.0[8,8]");
}

TEST(Phases, SeveralForwardsBeforeABackwardAreOne) {
  const auto marks = marks_of({load_begin, forward_begin, forward_end, forward_begin, forward_end, backward_begin,
                               optimizer_begin, optimizer_end});
  EXPECT_EQ(text(split_phases(marks)), "load0.0[0,1] forward1.1[1,4] backward1.2[4,6] optimizer1.0[6,7] other1.0[7,7]");
}

TEST(Phases, ARunThatEndsInAForward) {
  const auto marks =
      marks_of({load_begin, forward_begin, forward_end, optimizer_begin, optimizer_end, forward_begin, run_end});
  EXPECT_EQ(split_phases(marks).back().name, PhaseName::forward);
}

TEST(Phases, WithoutAnOptimizerStepThereIsOne) {
  EXPECT_EQ(text(split_phases(marks_of({load_begin, forward_begin, forward_end, run_end}))), "run0.0[0,3]");
  EXPECT_TRUE(split_phases({}).empty());
}

TEST(Phases, CoverTheRunWithoutGaps) {
  EXPECT_TRUE(rc::check("contiguous", [] {
    std::vector<Mark> marks(1);
    for (const auto name : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) {
      Mark mark;
      mark.name = static_cast<MarkName>(name % 9);
      marks.push_back(mark);
    }
    const auto phases = split_phases(marks);
    RC_ASSERT(phases.front().begin_mark == 0u);
    RC_ASSERT(phases.back().end_mark == marks.size() - 1);
    for (std::size_t i = 1; i < phases.size(); ++i) RC_ASSERT(phases[i].begin_mark == phases[i - 1].end_mark);
  }));
}

TEST(Phases, WithoutHistoryAPeakThatRoseLiesInThePhase) {
  auto marks = marks_of({load_begin, forward_begin, forward_end, optimizer_begin, optimizer_end});
  const std::uint64_t allocated[] = {0, 10, 30, 12, 12}, peaks[] = {0, 15, 40, 40, 40};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    marks[i].counters.allocated = allocated[i];
    marks[i].counters.peak_allocated = peaks[i];
  }
  auto phases = split_phases(marks);
  measure_phases(phases, marks, {}, KnownBy::measured);
  EXPECT_EQ(phases[0].peak_allocated, 15u);
  EXPECT_EQ(phases[1].peak_allocated, 40u);
  EXPECT_EQ(phases[3].peak_allocated, 12u);
  EXPECT_FALSE(phases[0].peaks_exact);
}

}  // namespace
}  // namespace ullage::ledger
