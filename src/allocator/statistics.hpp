// SPDX-License-Identifier: Apache-2.0
// The allocator's own statistics, with the names of torch.cuda.memory_stats().
#pragma once

#include <algorithm>
#include <cstdint>

namespace ullage::allocator {

struct Stat {
  std::uint64_t current = 0, peak = 0, allocated = 0, freed = 0;

  void increase(std::uint64_t amount) {
    current += amount, allocated += amount;
    peak = std::max(peak, current);
  }
  void decrease(std::uint64_t amount) { current -= amount, freed += amount; }
};

/// `all`, `small_pool`, `large_pool`.
struct PoolStat {
  Stat all, small, large;

  void increase(bool of_small, std::uint64_t amount) {
    all.increase(amount);
    (of_small ? small : large).increase(amount);
  }
  void decrease(bool of_small, std::uint64_t amount) {
    all.decrease(amount);
    (of_small ? small : large).decrease(amount);
  }
};

/// Counts, and bytes where the name says so.
struct Statistics {
  PoolStat allocation, segment, active, inactive_split;
  PoolStat allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  Stat oversize_allocations, oversize_segments;
  std::uint64_t num_alloc_retries = 0, num_ooms = 0, num_sync_all_streams = 0;
  std::uint64_t num_device_alloc = 0, num_device_free = 0;
};

}  // namespace ullage::allocator
