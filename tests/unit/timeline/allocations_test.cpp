// SPDX-License-Identifier: Apache-2.0
#include "timeline/allocations.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "allocator_simulator.hpp"

namespace ullage::timeline {
namespace {

AllocatorSimulator random_run() {
  AllocatorSimulator simulator(*rc::gen::arbitrary<bool>());
  const int count = *rc::gen::inRange(1, 60);
  for (int i = 0; i < count; ++i) {
    const int what = *rc::gen::inRange(0, 10);
    if (what < 6) simulator.allocate(*rc::gen::inRange<std::uint64_t>(1, 12 << 20));
    if (what >= 6 && what < 9 && simulator.live_count() > 0)
      simulator.free(*rc::gen::inRange<std::size_t>(0, simulator.live_count()), *rc::gen::arbitrary<bool>());
    if (what == 9) simulator.complete_pending();
  }
  return simulator;
}

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

}  // namespace
}  // namespace ullage::timeline
