// SPDX-License-Identifier: Apache-2.0
#include "findings/lack.hpp"

#include <gtest/gtest.h>

#include "base/bytes.hpp"

namespace ullage::findings {
namespace {

using timeline::Action;

// Ten segments of 20 MiB; of each half is used, or all of it.
timeline::Timeline failing(bool half) {
  timeline::Timeline t;
  t.stream_index(0);
  const auto add = [&](Action action, std::uint64_t address, std::uint64_t size) {
    t.events.push_back({action, address, size, 0, 0, timeline::no_stack});
  };
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const std::uint64_t address = i << 32;
    add(Action::segment_alloc, address, 20 * mib);
    add(Action::alloc, address, 10 * mib);
    add(Action::alloc, address + 10 * mib, 10 * mib);
    t.segments.push_back({address, 20 * mib, 0, false, false, t.blocks.size(), 2});
    t.blocks.push_back({address, 10 * mib, 10 * mib, timeline::BlockState::allocated, timeline::no_stack});
    t.blocks.push_back({address + 10 * mib, 10 * mib, 10 * mib,
                        half ? timeline::BlockState::inactive : timeline::BlockState::allocated, timeline::no_stack});
  }
  for (std::uint64_t i = 1; half && i <= 10; ++i) {
    add(Action::free_requested, (i << 32) + 10 * mib, 10 * mib);
    add(Action::free_completed, (i << 32) + 10 * mib, 10 * mib);
  }
  add(Action::oom, 0, 32 * mib);
  return t;
}

TEST(Lack, IdleMemoryInPiecesIsFragmentation) {
  const timeline::Timeline t = failing(true);
  const Lack lack = lack_at(t, timeline::settled_initial_state(t), t.events.count() - 1);
  EXPECT_EQ(lack.requested, 32 * mib);
  EXPECT_EQ(lack.allocated, 100 * mib);
  EXPECT_EQ(lack.idle, 100 * mib);
  EXPECT_EQ(lack.largest_piece, 10 * mib);
  EXPECT_TRUE(lack.fragmented);
}

TEST(Lack, AFullDeviceIsNot) {
  const timeline::Timeline t = failing(false);
  const Lack lack = lack_at(t, timeline::settled_initial_state(t), t.events.count() - 1);
  EXPECT_EQ(lack.idle, 0U);
  EXPECT_FALSE(lack.fragmented);
}

}  // namespace
}  // namespace ullage::findings
