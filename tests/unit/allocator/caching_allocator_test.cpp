// SPDX-License-Identifier: Apache-2.0
// One rule a test. That the rules together are PyTorch's own is shown by tests/rehearse/test_allocator.py.
#include "allocator/caching_allocator.hpp"

#include <gtest/gtest.h>

namespace ullage::allocator {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gib = 1 << 30;

struct Model {
  explicit Model(const char* settings = "", std::uint64_t bytes = 4 * gib, const Rules& rules = {})
      : device(bytes, bytes), allocator(*parse_settings(settings), rules, device, &timeline) {}
  SimulatedDevice device;
  timeline::Timeline timeline;
  CachingAllocator allocator;

  std::uint64_t reserved() { return allocator.statistics().reserved_bytes.all.current; }
  std::uint64_t allocated() { return allocator.statistics().allocated_bytes.all.current; }
};

TEST(CachingAllocator, SegmentsOfEachSizeClass) {
  Model m;
  (void)m.allocator.allocate(1);
  EXPECT_EQ(m.reserved(), 2 * mib);
  (void)m.allocator.allocate(1 * mib + 1);
  EXPECT_EQ(m.reserved(), 22 * mib);
  (void)m.allocator.allocate(33 * mib + 5);
  EXPECT_EQ(m.reserved(), 56 * mib);
  EXPECT_EQ(m.allocated(), 512 + (1 * mib + 512) + 34 * mib) << "a remainder of at most 1 MiB is not split off";
}

TEST(CachingAllocator, TheSmallestThatFitsOnTheSameStream) {
  Model m;
  const auto large = m.allocator.allocate(100 * mib), small = m.allocator.allocate(50 * mib);
  m.allocator.free(*large), m.allocator.free(*small);
  const auto again = m.allocator.allocate(40 * mib);
  EXPECT_EQ(m.allocator.block(*again).address, m.allocator.segments()[0].bytes == 50 * mib
                                                   ? m.allocator.segments()[0].address
                                                   : m.allocator.segments()[1].address);
  (void)m.allocator.allocate(40 * mib, 7);
  EXPECT_EQ(m.reserved(), 190 * mib) << "another stream has segments of its own";
}

TEST(CachingAllocator, FreeNeighboursBecomeOne) {
  Model m;
  const auto a = m.allocator.allocate(5 * mib), b = m.allocator.allocate(5 * mib), c = m.allocator.allocate(5 * mib);
  m.allocator.free(*a), m.allocator.free(*c);
  EXPECT_EQ(m.allocator.segments()[0].blocks.size(), 3U);
  m.allocator.free(*b);
  ASSERT_EQ(m.allocator.segments()[0].blocks.size(), 1U);
  EXPECT_EQ(m.allocator.statistics().inactive_split.all.current, 0U);
}

TEST(CachingAllocator, CachedMemoryIsGivenBackBeforeItFails) {
  Model m("", 1 * gib);
  const auto first = m.allocator.allocate(700 * mib);
  m.allocator.free(*first);
  EXPECT_TRUE(m.allocator.allocate(800 * mib));
  EXPECT_EQ(m.allocator.statistics().num_alloc_retries, 1U);
  EXPECT_FALSE(m.allocator.allocate(800 * mib));
  EXPECT_EQ(m.allocator.statistics().num_ooms, 1U);
  EXPECT_EQ(m.allocator.failed_bytes(), 800 * mib);
  EXPECT_EQ(m.timeline.events.action.back(), timeline::Action::oom);
}

TEST(CachingAllocator, ABlockUsedByAnotherStreamWaits) {
  Model m;
  m.allocator.set_busy(3, true);
  const auto block = m.allocator.allocate(100 * mib);
  m.allocator.record_stream(*block, 3);
  m.allocator.free(*block);
  EXPECT_EQ(m.allocated(), 0U);
  EXPECT_EQ(m.allocator.statistics().active_bytes.all.current, 100 * mib);
  (void)m.allocator.allocate(100 * mib);
  EXPECT_EQ(m.reserved(), 200 * mib);
  m.allocator.set_busy(3, false);
  (void)m.allocator.allocate(100 * mib);
  EXPECT_EQ(m.reserved(), 200 * mib);
}

TEST(CachingAllocator, ExpandableSegmentsGrowByPages) {
  Model m("expandable_segments:True");
  const auto a = m.allocator.allocate(30 * mib), b = m.allocator.allocate(30 * mib);
  EXPECT_EQ(m.reserved(), 60 * mib);
  m.allocator.free(*a), m.allocator.free(*b);
  (void)m.allocator.allocate(70 * mib);
  EXPECT_EQ(m.reserved(), 80 * mib) << "the same range, one page more";
  EXPECT_EQ(m.allocator.statistics().segment.all.current, 0U);
  ASSERT_EQ(m.allocator.segments().size(), 1U);
}

TEST(CachingAllocator, EmptyCacheLeavesSplitSegments) {
  Model m;
  const auto a = m.allocator.allocate(5 * mib);
  const auto b = m.allocator.allocate(100 * mib);
  m.allocator.free(*b);
  m.allocator.empty_cache();
  EXPECT_EQ(m.reserved(), 20 * mib);
  m.allocator.free(*a);
  m.allocator.empty_cache();
  EXPECT_EQ(m.reserved(), 0U);
  EXPECT_EQ(m.device.charged(), 0U);
}

TEST(CachingAllocator, AGraphsPoolKeepsItsMemory) {
  Model m;
  m.allocator.begin_pool(1, 5);
  const auto inside = m.allocator.allocate(100 * mib, 5);
  m.allocator.end_pool(1);
  m.allocator.free(*inside);
  (void)m.allocator.allocate(100 * mib, 5);
  EXPECT_EQ(m.reserved(), 200 * mib);
  m.allocator.empty_cache();
  EXPECT_EQ(m.reserved(), 200 * mib);
  m.allocator.release_pool(1);
  m.allocator.empty_cache();
  EXPECT_EQ(m.reserved(), 100 * mib);
}

TEST(CachingAllocator, OversizeBlocksOfExpandableSegmentsAreNotReleasedAlone) {
  Model m("expandable_segments:True,max_split_size_mb:64", 1 * gib);
  const auto first = m.allocator.allocate(400 * mib), kept = m.allocator.allocate(2 * mib);
  m.allocator.free(*first);
  EXPECT_TRUE(m.allocator.allocate(900 * mib)) << "what is cached is unmapped";
  EXPECT_FALSE(m.allocator.allocate(300 * mib));
  EXPECT_EQ(m.allocator.block(*kept).size, 2 * mib);
}

// A limit would refuse the request before it opens a segment, which the next request then fills.
TEST(CachingAllocator, AFractionOfOneIsNoLimit) {
  Model m("expandable_segments:True", 1 * gib);
  m.allocator.set_memory_fraction(1.0);
  const auto first = m.allocator.allocate(600 * mib);
  EXPECT_FALSE(m.allocator.allocate(900 * mib));
  const auto second = m.allocator.allocate(100 * mib);
  EXPECT_LT(m.allocator.block(*second).address, m.allocator.block(*first).address) << "of a second segment";
}

// While requests go to a private pool without a capture, the newest torch gives cached memory back for them.
TEST(CachingAllocator, APoolIsACaptureBeforeTorch2_15) {
  for (const int minor : {11, 15}) {
    for (const PoolUse use : {PoolUse::capture, PoolUse::requests}) {
      Model m("", 1 * gib, rules_of(TorchVersion{2, minor}));
      m.allocator.free(*m.allocator.allocate(700 * mib));
      m.allocator.begin_pool(1, 5, use);
      EXPECT_EQ(m.allocator.allocate(800 * mib, 5).has_value(), minor == 15 && use == PoolUse::requests);
    }
  }
}

TEST(CachingAllocator, OfEqualBlocksTheOldestSinceTorch2_15) {
  for (const int minor : {11, 15}) {
    Model m("", 4 * gib, rules_of(TorchVersion{2, minor}));
    const auto first = m.allocator.allocate(64 * mib), second = m.allocator.allocate(64 * mib);
    const Address old = m.allocator.block(*first).address, young = m.allocator.block(*second).address;
    ASSERT_LT(young, old) << "the driver's order";
    m.allocator.free(*second), m.allocator.free(*first);
    EXPECT_EQ(m.allocator.block(*m.allocator.allocate(64 * mib)).address, minor == 15 ? old : young);
  }
}

TEST(CachingAllocator, TheGarbageCollectorNeedsAFraction) {
  for (const bool with_fraction : {false, true}) {
    Model m("garbage_collection_threshold:0.5", 1 * gib);
    if (with_fraction) m.allocator.set_memory_fraction(0.99);
    const auto a = m.allocator.allocate(600 * mib);
    m.allocator.free(*a);
    (void)m.allocator.allocate(200 * mib, 9);
    EXPECT_EQ(m.reserved(), with_fraction ? 200 * mib : 800 * mib);
  }
}

}  // namespace
}  // namespace ullage::allocator
