// SPDX-License-Identifier: Apache-2.0
// Random allocator programs: the replay must agree with the allocator that ran them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "allocator_simulator.hpp"
#include "timeline/intervals.hpp"

namespace ullage::timeline {
namespace {

struct Operation {
  std::uint8_t kind;
  std::uint32_t value;
};

void run(AllocatorSimulator& simulator, const Operation& op) {
  const std::size_t live = simulator.live_count();
  if (op.kind < 110) {
    constexpr std::uint32_t limits[] = {2048, 1u << 20, 12u << 20, 30u << 20};
    simulator.allocate(1 + op.value % limits[op.kind % 4]);
  } else if (op.kind < 225 && live > 0) {
    simulator.free(op.value % live, op.kind % 4 != 0);
  } else if (op.kind < 245) {
    simulator.complete_pending();
  } else {
    simulator.empty_cache();
  }
}

std::vector<Operation> program() {
  const auto one = rc::gen::pair(rc::gen::resize(1000, rc::gen::arbitrary<std::uint8_t>()),
                                 rc::gen::resize(1000, rc::gen::arbitrary<std::uint32_t>()));
  const auto raw = *rc::gen::scale(6.0, rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint32_t>>>(one));
  std::vector<Operation> operations;
  for (const auto& [kind, value] : raw) operations.push_back({kind, value});
  return operations;
}

AllocatorSimulator simulate(bool expandable) {
  AllocatorSimulator simulator(expandable);
  if (*rc::gen::arbitrary<bool>()) simulator.timeline.settings.max_split_bytes = 21ULL << 20;
  for (const Operation& op : program()) run(simulator, op);
  return simulator;
}

void check_from_empty(bool expandable) {
  AllocatorSimulator simulator = simulate(expandable);
  simulator.finish(0);
  const Timeline& t = simulator.timeline;
  BlockReplay replay(t, settled_initial_state(t));
  RC_ASSERT(replay.now() == Counters{});
  for (const Counters& expected : simulator.after) {
    RC_ASSERT(replay.step());
    RC_ASSERT(replay.now() == expected);
  }
  RC_ASSERT(compare_with_source(replay, t).empty());
  RC_ASSERT(replay.evidence() == ReplayEvidence{});
}

// Recording began in the middle: sizes of old blocks that were freed may be assumed, everything else is exact.
void check_late_start(bool expandable) {
  AllocatorSimulator simulator = simulate(expandable);
  const std::size_t count = simulator.timeline.events.count();
  const std::size_t first = count == 0 ? 0 : *rc::gen::inRange<std::size_t>(0, count);
  simulator.finish(first);
  const Timeline& t = simulator.timeline;
  const InitialState initial = settled_initial_state(t);
  BlockReplay replay(t, initial);
  const bool exact = replay.evidence().assumed_sizes == 0;
  for (std::size_t i = first; i < count; ++i) {
    RC_ASSERT(replay.step());
    RC_ASSERT(replay.now().reserved == simulator.after[i].reserved);
    RC_ASSERT(replay.now().requested == simulator.after[i].requested);
    if (exact) RC_ASSERT(replay.now() == simulator.after[i]);
  }
  RC_ASSERT(compare_with_source(replay, t).empty());
  RC_ASSERT(replay.evidence().misplaced + replay.evidence().unplaced + replay.evidence().bad_segments == 0);
}

TEST(ReplayProperty, EqualsTheAllocatorFromAnEmptyDevice) {
  EXPECT_TRUE(rc::check("segments", [] { check_from_empty(false); }));
  EXPECT_TRUE(rc::check("expandable segments", [] { check_from_empty(true); }));
}

TEST(ReplayProperty, EqualsTheAllocatorWhenRecordingBeganLate) {
  EXPECT_TRUE(rc::check("segments", [] { check_late_start(false); }));
  EXPECT_TRUE(rc::check("expandable segments", [] { check_late_start(true); }));
}

}  // namespace
}  // namespace ullage::timeline
