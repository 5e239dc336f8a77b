// SPDX-License-Identifier: Apache-2.0
#include "timeline/trace_allocations.hpp"

#include <gtest/gtest.h>

#include "timeline/allocations.hpp"
#include "timeline/intervals.hpp"

namespace ullage::timeline {
namespace {

struct Memory {
  Trace trace;
  std::int64_t time = 1000;
  void add(std::int64_t bytes, std::uint64_t address = 0, std::uint64_t allocated = 0, std::uint64_t reserved = 0,
           std::int16_t device = 0) {
    auto& m = trace.memory;
    m.time_ns.push_back(time += 1000);
    m.bytes.push_back(bytes);
    m.address.push_back(address);
    m.allocated.push_back(allocated);
    m.reserved.push_back(reserved);
    m.thread.push_back(trace.thread_index(1));
    m.device.push_back(device);
  }
  TraceTimeline convert() {
    link(trace);
    return timeline_of(trace, 0);
  }
};

std::uint64_t peak(const TraceTimeline& made) {
  const std::size_t end[] = {made.timeline.events.count()};
  return intervals(made.timeline, made.initial, end).front().allocated.bytes;
}

TEST(TraceAllocations, TotalsTellWhatIsOlder) {
  Memory memory;
  memory.add(1024, 0x1000, 11024, 20000);
  memory.add(-2048, 0x9000, 8976, 20000);  // older than the trace
  memory.add(-1024, 0x1000, 7952, 20000);
  memory.add(512, 0, 512, 512, -1);  // the host's
  const TraceTimeline made = memory.convert();
  EXPECT_EQ(made.older_bytes, 10000U);
  EXPECT_EQ(made.timeline.events.count(), 3U);
  EXPECT_EQ(made.reserved, (std::vector<std::uint64_t>{20000, 20000, 20000}));
  EXPECT_EQ(made.disagreements, 0U);
  EXPECT_EQ(peak(made), 11024U);
  const Allocations all = allocations(made.timeline, made.initial);
  EXPECT_EQ(all.before_trace, 2U);  // the one that is freed, and the rest
  EXPECT_EQ(all.size[0] + all.size[1], 10000U);
}

TEST(TraceAllocations, WithoutAddressesTheLatestOfThatSizeIsFreed) {
  Memory memory;
  memory.add(1024);
  memory.add(512);
  memory.add(1024);
  memory.add(-1024);
  memory.add(-4096);
  const TraceTimeline made = memory.convert();
  EXPECT_EQ(made.matched_by_size, 1U);
  EXPECT_FALSE(made.has_totals);
  EXPECT_EQ(made.older_bytes, 4096U);
  const Allocations all = allocations(made.timeline, made.initial);
  ASSERT_EQ(all.count(), 4U);
  EXPECT_EQ(all.freed[0], 4U);
  EXPECT_EQ(all.freed[1], Allocations::never);
  EXPECT_EQ(all.freed[3], 3U);
  EXPECT_EQ(memory.trace.memory.address[2], all.address[3]);
}

TEST(TraceAllocations, ContradictionsAreCounted) {
  Memory memory;
  memory.add(1024, 0x1000, 1024, 4096);
  memory.add(1024, 0x1000, 2048, 4096);  // given out again: the free between them is not in the trace
  memory.add(-1024, 0x1000, 1024, 4096);
  const TraceTimeline made = memory.convert();
  EXPECT_EQ(made.lost_frees, 1U);
  EXPECT_EQ(made.disagreements, 2U);
  EXPECT_EQ(made.largest_disagreement, 1024U);
}

TEST(TraceAllocations, FailedRequestsStandWhereTheyHappened) {
  Memory memory;
  memory.add(1024, 0x1000, 1024, 4096);
  memory.trace.ooms.push_back({2500, 1 << 20, 0});
  memory.trace.ooms.push_back({2600, 1 << 20, 1});
  memory.add(-1024, 0x1000, 0, 4096);
  const TraceTimeline made = memory.convert();
  ASSERT_EQ(made.timeline.events.count(), 3U);
  EXPECT_EQ(made.timeline.events.action[1], Action::oom);
  EXPECT_EQ(made.timeline.events.size[1], 1U << 20);
}

TEST(TraceAllocations, TheBusiestDevice) {
  Memory memory;
  memory.add(4096, 0, 0, 0, -1);
  EXPECT_FALSE(busiest_device(memory.trace));
  memory.add(512, 0, 0, 0, 0);
  memory.add(1024, 0, 0, 0, 3);
  EXPECT_EQ(busiest_device(memory.trace), 3);
}

}  // namespace
}  // namespace ullage::timeline
