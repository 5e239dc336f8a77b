// SPDX-License-Identifier: Apache-2.0
// What the simulated allocator writes down of arbitrary requests.
#pragma once

#include <rapidcheck.h>

#include "allocator_simulator.hpp"

namespace ullage::timeline {

inline AllocatorSimulator random_run() {
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

}  // namespace ullage::timeline
