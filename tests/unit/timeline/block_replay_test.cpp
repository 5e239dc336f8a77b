// SPDX-License-Identifier: Apache-2.0
#include "timeline/block_replay.hpp"

#include <gtest/gtest.h>

#include "timeline/intervals.hpp"

namespace ullage::timeline {
namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib, base = 0x7f0000000000;

struct Case {
  Timeline t;
  Case& add(Action action, std::uint64_t address, std::uint64_t size) {
    t.events.push_back({action, address, size, 0, 0, no_stack});
    return *this;
  }
  Case& segment(std::uint64_t address, std::uint64_t bytes, std::vector<Block> blocks) {
    t.segments.push_back({address, bytes, 0, bytes == 2 * mib, false, t.blocks.size(), blocks.size()});
    t.blocks.insert(t.blocks.end(), blocks.begin(), blocks.end());
    return *this;
  }
  // From an empty device.
  BlockReplay replayed() {
    BlockReplay replay(t, InitialState{});
    replay.advance_to(t.events.count());
    return replay;
  }
};

TEST(BlockReplay, RemainderUpTo1MiBBelongsToTheBlock) {
  Case c;
  c.add(Action::segment_alloc, base, 20 * mib).add(Action::alloc, base, 19 * mib + 100);
  EXPECT_EQ(c.replayed().now().allocated, 20 * mib);
  EXPECT_EQ(c.replayed().now().requested, 19 * mib + 100);
  EXPECT_EQ(c.replayed().live_at(base)->size, 20 * mib);
}

TEST(BlockReplay, SmallPoolSplitsEverySpareBlock) {
  Case c;
  c.add(Action::segment_alloc, base, 2 * mib).add(Action::alloc, base, mib).add(Action::alloc, base + mib, 1);
  EXPECT_EQ(c.replayed().now().allocated, mib + 512);
}

TEST(BlockReplay, AFreeLowersAllocatedAtOnceAndActiveLater) {
  Case c;
  c.add(Action::segment_alloc, base, 2 * mib).add(Action::alloc, base, 1000).add(Action::free_requested, base, 1000);
  EXPECT_EQ(c.replayed().now().allocated, 0u);
  EXPECT_EQ(c.replayed().now().active, 1024u);
  EXPECT_EQ(c.replayed().now().requested, 1000u);
  c.add(Action::free_completed, base, 1000);
  EXPECT_EQ(c.replayed().now().active, 0u);
  EXPECT_EQ(c.replayed().now().requested, 0u);
}

TEST(BlockReplay, FreedNeighboursMerge) {
  Case c;
  c.add(Action::segment_alloc, base, 20 * mib);
  c.add(Action::alloc, base, 4 * mib).add(Action::alloc, base + 4 * mib, 4 * mib);
  for (const auto address : {base, base + 4 * mib}) {
    c.add(Action::free_requested, address, 4 * mib).add(Action::free_completed, address, 4 * mib);
  }
  c.add(Action::alloc, base, 20 * mib);
  EXPECT_EQ(c.replayed().evidence(), ReplayEvidence{});
  EXPECT_EQ(c.replayed().now().allocated, 20 * mib);
}

TEST(BlockReplay, ExpandableRangesGrowTogetherAndUnmap) {
  Case c;
  c.t.settings.expandable_segments = true;
  c.add(Action::segment_map, base, 20 * mib).add(Action::alloc, base, 15 * mib);
  c.add(Action::segment_map, base + 20 * mib, 20 * mib).add(Action::alloc, base + 15 * mib, 20 * mib);
  EXPECT_EQ(c.replayed().evidence(), ReplayEvidence{});
  EXPECT_EQ(c.replayed().now().reserved, 40 * mib);
  c.add(Action::free_requested, base, 15 * mib).add(Action::free_completed, base, 15 * mib);
  c.add(Action::segment_unmap, base, 2 * mib);
  EXPECT_EQ(c.replayed().evidence(), ReplayEvidence{});
  EXPECT_EQ(c.replayed().now().reserved, 38 * mib);
  c.add(Action::segment_unmap, base, 2 * mib);  // a second time
  EXPECT_EQ(c.replayed().evidence().bad_segments, 1u);
}

TEST(BlockReplay, BlocksOlderThanTheTraceKeepTheSizeTheSourceStates) {
  Case c;
  c.segment(base, 20 * mib, {{base, 20 * mib, 19 * mib + 512, BlockState::allocated, 0}});
  BlockReplay replay(c.t, settled_initial_state(c.t));
  EXPECT_EQ(replay.now().allocated, 20 * mib);
  EXPECT_TRUE(compare_with_source(replay, c.t).empty());
}

// Looking for the place of each among those before it would take ten seconds.
TEST(BlockReplay, ManyOldBlocksInOneSegmentArePlacedOneBehindTheOther) {
  constexpr std::uint64_t count = 200'000;
  std::vector<Block> blocks;
  for (std::uint64_t i = 0; i < count; ++i) blocks.push_back({base + i * kib, kib, 600, BlockState::allocated, 0});
  Case c;
  c.segment(base, count * kib, blocks);
  BlockReplay replay(c.t, settled_initial_state(c.t));
  EXPECT_EQ(replay.now().allocated, count * kib);
  EXPECT_EQ(replay.evidence(), ReplayEvidence{});
  EXPECT_TRUE(compare_with_source(replay, c.t).empty());
}

TEST(BlockReplay, AnAllocationBehindAnOldBlockShowsWhereItEnded) {
  Case c;  // an old block of 4 MiB kept a tail of 960 KiB; what lived behind it was freed before the trace began
  const std::uint64_t end = base + 4 * mib + 960 * kib;
  c.segment(base, 20 * mib, {{base, 20 * mib, 0, BlockState::inactive, 0}});
  c.add(Action::alloc, end, 8 * mib);
  for (const auto& [address, size] : {std::pair{base, 4 * mib}, std::pair{end, 8 * mib}}) {
    c.add(Action::free_requested, address, size).add(Action::free_completed, address, size);
  }
  BlockReplay replay(c.t, settled_initial_state(c.t));
  EXPECT_EQ(replay.now().allocated, 4 * mib + 960 * kib);
  EXPECT_TRUE(compare_with_source(replay, c.t).empty());
  EXPECT_EQ(replay.evidence(), ReplayEvidence{});
}

TEST(BlockReplay, SegmentsGivenBackDuringTheTraceAreThereAtItsStart) {
  Case c;
  c.add(Action::free_requested, base, 3 * mib).add(Action::free_completed, base, 3 * mib);
  c.add(Action::segment_free, base, 20 * mib);
  BlockReplay replay(c.t, settled_initial_state(c.t));
  EXPECT_EQ(replay.now().reserved, 20 * mib);
  EXPECT_EQ(replay.now().allocated, 3 * mib);
  EXPECT_TRUE(compare_with_source(replay, c.t).empty());
}

TEST(BlockReplay, DifferencesFromTheSourceAreListed) {
  Case c;
  c.segment(base, 2 * mib, {{base, 1024, 600, BlockState::allocated, 0}, {base + 1024, 2 * mib - 1024, 0, {}, 0}});
  c.add(Action::segment_alloc, base, 2 * mib).add(Action::alloc, base, 400);
  BlockReplay replay(c.t, settled_initial_state(c.t));
  EXPECT_EQ(compare_with_source(replay, c.t).size(), 3u);  // one size, one block on each side
}

TEST(Intervals, PeaksLieWhereTheyWereReached) {
  Case c;
  c.add(Action::segment_alloc, base, 2 * mib).add(Action::alloc, base, 512).add(Action::alloc, base + 512, 512);
  c.add(Action::free_requested, base, 512).add(Action::free_completed, base, 512);
  const std::size_t cuts[] = {2, 3, 5};
  const auto found = intervals(c.t, settled_initial_state(c.t), cuts);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].allocated.bytes, 512u);
  EXPECT_EQ(found[1].allocated.bytes, 1024u);
  EXPECT_EQ(found[1].allocated.event, 2u);
  EXPECT_EQ(found[2].allocated.bytes, 1024u);  // it began with the peak
  EXPECT_EQ(found[2].allocated.event, 3u);
  EXPECT_EQ(found[2].at_end.allocated, 512u);
}

}  // namespace
}  // namespace ullage::timeline
