// SPDX-License-Identifier: Apache-2.0
// Snapshots that people published: read, replayed, and compared with the segments they state.
#include <gtest/gtest.h>

#include <algorithm>

#include "ingest/snapshot/snapshot.hpp"
#include "test_data.hpp"
#include "timeline/intervals.hpp"

namespace ullage::ingest {
namespace {

constexpr std::uint64_t mib = 1 << 20;

struct Golden {
  const char* name;
  std::size_t events, segments, stacks;
  std::uint64_t requested_at_start_mib, requested_peak_mib, reserved_mib;  // rounded down
};

// Events, segments and requested figures as an independent reading with CPython's pickle gives them.
constexpr Golden goldens[] = {
    {"silmont_mem_snapshot", 97, 9, 43, 0, 3098, 3606},
    {"silmont_forward_bf16_128", 2811, 43, 134, 0, 0, 822},
    {"wedson_medium_128_inference", 3840, 98, 89, 1622, 1656, 1682},
    {"wedson_medium_128_training", 19136, 377, 171, 4859, 6688, 6900},
    {"wedson_medium_512_training", 22332, 400, 189, 4859, 11850, 12074},
    {"yiyi_oom_snapshot", 1, 176, 4, 0, 0, 11296},
    {"yiyi_1.3b_snapshot_a", 1, 266, 35, 0, 0, 6350},
};

class PublishedSnapshot : public testing::TestWithParam<Golden> {};

TEST_P(PublishedSnapshot, ReplaysToExactlyTheStateItStates) {
  const Golden& golden = GetParam();
  const std::string text = test::read_gz(std::string("snapshots/") + golden.name + ".pickle.gz");
  const auto snapshot = read_snapshot(test::bytes_of(text));
  ASSERT_TRUE(snapshot) << snapshot.error().what;
  const timeline::Timeline& t = snapshot->timeline;
  EXPECT_EQ(t.events.count(), golden.events);
  EXPECT_EQ(t.segments.size(), golden.segments);
  EXPECT_EQ(t.stacks.stack_count(), golden.stacks);
  EXPECT_EQ(snapshot->bad_values, 0u);
  EXPECT_FALSE(snapshot->partial());

  const timeline::InitialState initial = timeline::settled_initial_state(t);
  timeline::BlockReplay replay(t, initial);
  const std::uint64_t at_start = replay.now().requested;
  const auto mismatches = timeline::compare_with_source(replay, t);
  EXPECT_EQ(mismatches.size(), 0u) << mismatches.front().what;
  EXPECT_EQ(replay.evidence().misplaced, 0u);
  EXPECT_EQ(replay.evidence().unplaced, 0u);
  EXPECT_EQ(replay.evidence().unknown_frees, 0u);
  EXPECT_EQ(replay.evidence().bad_segments, 0u);
  EXPECT_EQ(replay.now().reserved / mib, golden.reserved_mib);
  const std::size_t end[] = {t.events.count()};
  const std::uint64_t peak = timeline::intervals(t, initial, end)[0].requested.bytes;
  if (golden.requested_at_start_mib > 0) {
    EXPECT_EQ(at_start / mib, golden.requested_at_start_mib);
  }
  if (golden.requested_peak_mib > 0) {
    EXPECT_EQ(peak / mib, golden.requested_peak_mib);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedSnapshot, testing::ValuesIn(goldens), [](const auto& which) {
  std::string name = which.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(PublishedSnapshots, ARandomSyntheticFileIsReadWithoutItsSegmentsFitting) {
  const std::string text = test::read_gz("snapshots/mosaic_output.pickle.gz");
  const auto snapshot = read_snapshot(test::bytes_of(text));
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->timeline.events.count(), 1040u);
  EXPECT_FALSE(snapshot->annotations.empty());
  timeline::BlockReplay replay(snapshot->timeline, timeline::settled_initial_state(snapshot->timeline));
  replay.advance_to(1040);
  EXPECT_EQ(replay.evidence().unplaced, 520u);
}

TEST(PublishedSnapshots, EveryCutIsReadAsFarAsItGoes) {
  const std::string text = test::read_gz("snapshots/silmont_mem_snapshot.pickle.gz");
  std::size_t events = 0;
  for (std::size_t length = 0; length < text.size(); length += 97) {
    const std::string cut = text.substr(0, length);
    const auto snapshot = read_snapshot(test::bytes_of(cut));
    if (!snapshot) continue;
    EXPECT_TRUE(snapshot->partial());
    EXPECT_GE(snapshot->timeline.events.count(), events);
    events = snapshot->timeline.events.count();
    timeline::BlockReplay replay(snapshot->timeline, timeline::settled_initial_state(snapshot->timeline));
    replay.advance_to(events);
  }
  EXPECT_EQ(events, 97u);
}

TEST(PublishedSnapshots, TheLineOfCodeIsTheUsers) {
  const std::string text = test::read_gz("snapshots/wedson_medium_512_training.pickle.gz");
  const auto snapshot = read_snapshot(test::bytes_of(text));
  const timeline::Timeline& t = snapshot->timeline;
  const auto line = timeline::user_line(t, t.events.at(2).stack);
  ASSERT_TRUE(line.outside_torch);
  const timeline::Frame& frame = t.stacks.frame(*line.outside_torch);
  EXPECT_TRUE(t.strings.text(frame.file).ends_with("cs336_basics/model.py"));
  EXPECT_EQ(frame.line, 101u);
}

}  // namespace
}  // namespace ullage::ingest
