// SPDX-License-Identifier: Apache-2.0
#include "ledger/totals_over_time.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "random_run.hpp"

namespace ullage::ledger {
namespace {

using namespace timeline;

TEST(TotalsOverTime, AreTheAllocatorsOwnAndAddUp) {
  EXPECT_TRUE(rc::check("after each event", [] {
    AllocatorSimulator simulator = random_run();
    simulator.finish(0);
    const Timeline& t = simulator.timeline;
    const InitialState initial = settled_initial_state(t);
    const Allocations all = allocations(t, initial);
    attribution::Labels labels;
    labels.of.resize(all.count());
    for (auto& label : labels.of) label.category = static_cast<attribution::Category>(*rc::gen::inRange(0, 9));
    TotalsOverTime walk(t, initial, all, labels);
    for (const Counters& expected : simulator.after) {
      RC_ASSERT(walk.step());
      RC_ASSERT(walk.now().allocated == expected.allocated);
      RC_ASSERT(walk.now().reserved == expected.reserved);
      const auto& parts = walk.now().of;
      RC_ASSERT(std::accumulate(parts.begin(), parts.end(), walk.now().rounding) == walk.now().allocated);
    }
    RC_ASSERT(!walk.step());
  }));
}

TEST(TotalsOverTime, TheSourcesOwnReservedComesFirst) {
  Timeline t;
  t.events.push_back({Action::alloc, 4096, 512, 0, 0, 0});
  const InitialState initial;
  const Allocations all = allocations(t, initial);
  attribution::Labels labels;
  labels.of.resize(all.count());
  const std::uint64_t reserved[] = {2 << 20};
  TotalsOverTime walk(t, initial, all, labels, reserved);
  ASSERT_TRUE(walk.step());
  EXPECT_EQ(walk.now().reserved, 2U << 20);
}

}  // namespace
}  // namespace ullage::ledger
