// SPDX-License-Identifier: Apache-2.0
#include "timeline/allocations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "random_run.hpp"
#include "timeline/covered_ranges.hpp"

namespace ullage::timeline {
namespace {

TEST(Allocations, TheLiveOnesAddUpToTheCounterAtEveryMoment) {
  EXPECT_TRUE(rc::check("sizes of live allocations are allocated_bytes", [] {
    AllocatorSimulator simulator = random_run();
    simulator.finish(0);
    const Allocations all = allocations(simulator.timeline, settled_initial_state(simulator.timeline));
    for (std::size_t cut = 0; cut <= simulator.after.size(); ++cut) {
      std::uint64_t sum = 0;
      for (AllocationId id = 0; id < all.count(); ++id) sum += all.live_at(id, cut) ? all.size[id] : 0;
      RC_ASSERT(sum == (cut == 0 ? 0 : simulator.after[cut - 1].allocated));
    }
  }));
}

TEST(Allocations, TheIndexFindsWhatLivedAtAnAddress) {
  EXPECT_TRUE(rc::check("the index agrees with a scan", [] {
    AllocatorSimulator simulator = random_run();
    simulator.finish(0);
    const Allocations all = allocations(simulator.timeline, settled_initial_state(simulator.timeline));
    RC_PRE(all.count() > 0);
    const AllocationIndex index(all);
    const std::uint64_t address = all.address[*rc::gen::inRange<std::size_t>(0, all.count())];
    const std::size_t cut = *rc::gen::inRange<std::size_t>(0, simulator.after.size() + 1);
    std::optional<AllocationId> expected;
    for (AllocationId id = 0; id < all.count(); ++id) {
      if (all.address[id] == address && all.live_at(id, cut)) expected = id;
    }
    RC_ASSERT(index.at(address, cut) == expected);
  }));
}

TEST(Allocations, EveryBlockOfTheReplayHasItsRow) {
  EXPECT_TRUE(rc::check("the row of a live block has its address and has not ended", [] {
    AllocatorSimulator simulator = random_run();
    const std::size_t first = *rc::gen::inRange<std::size_t>(0, simulator.after.size() + 1);
    simulator.finish(first);
    const InitialState initial = settled_initial_state(simulator.timeline);
    const Allocations all = allocations(simulator.timeline, initial);
    BlockReplay replay(simulator.timeline, initial);
    replay.advance_to(*rc::gen::inRange<std::size_t>(0, simulator.timeline.events.count() + 1));
    for (const LiveBlock& block : replay.live_blocks()) {
      const auto id = find_allocation(all, block);
      RC_ASSERT(id.has_value());
      RC_ASSERT(all.address[*id] == block.address && all.born[*id] == block.born);
      RC_ASSERT(all.completed[*id] == Allocations::never || all.completed[*id] >= replay.position());
    }
  }));
}

TEST(Allocations, TheWalkTellsEachEventsAllocation) {
  EXPECT_TRUE(rc::check("births and ends are those of the columns", [] {
    AllocatorSimulator simulator = random_run();
    const std::size_t first = *rc::gen::inRange<std::size_t>(0, simulator.after.size() + 1);
    simulator.finish(first);
    const Allocations all = allocations(simulator.timeline, settled_initial_state(simulator.timeline));
    AllocationWalk walk(simulator.timeline, all);
    for (std::uint32_t event = 0; event < simulator.timeline.events.count(); ++event) {
      const AllocationWalk::Step step = walk.next();
      const Action action = simulator.timeline.events.action[event];
      const bool born = step.of != AllocationWalk::none && all.born[step.of] == event;
      RC_ASSERT(born == (action == Action::alloc));
      if (step.of != AllocationWalk::none) RC_ASSERT(all.address[step.of] == simulator.timeline.events.address[event]);
      if (action == Action::free_completed) RC_ASSERT(all.completed[step.of] == event);
      if (step.ended != AllocationWalk::none) RC_ASSERT(all.freed[step.ended] == event);
    }
  }));
}

TEST(CoveredRanges, HoldEveryAllocationAndTheLiveOnesAsBlocks) {
  EXPECT_TRUE(rc::check("blocks fill their segments", [] {
    AllocatorSimulator simulator = random_run();
    simulator.finish(0);
    const Allocations all = allocations(simulator.timeline, settled_initial_state(simulator.timeline));
    const FinalState state = covered_ranges(all);
    std::uint64_t live = 0;
    for (const Segment& segment : state.segments) {
      std::uint64_t end = segment.address;
      for (std::size_t i = 0; i < segment.block_count; ++i) {
        const Block& block = state.blocks[segment.first_block + i];
        RC_ASSERT(block.address == end);
        end += block.size;
        if (block.state == BlockState::allocated) live += block.size;
      }
      RC_ASSERT(end == segment.address + segment.bytes);
    }
    RC_ASSERT(live == simulator.counters().allocated);
    for (AllocationId id = 0; id < all.count(); ++id) {
      RC_ASSERT(std::ranges::any_of(state.segments, [&](const Segment& segment) {
        return segment.address <= all.address[id] && all.address[id] + all.size[id] <= segment.address + segment.bytes;
      }));
    }
  }));
}

}  // namespace
}  // namespace ullage::timeline
