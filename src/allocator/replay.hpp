// SPDX-License-Identifier: Apache-2.0
// The requests of a recorded Timeline, run through the allocator model with other settings or on another device: what
// would have been reserved, and where memory would have run out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "allocator/caching_allocator.hpp"
#include "timeline/initial_state.hpp"
#include "timeline/timeline.hpp"

namespace ullage::allocator {

struct ReplayOptions {
  Settings settings;
  Rules rules;
  /// Bytes of the device that are left for PyTorch's segments; nothing: no limit.
  std::optional<std::uint64_t> available;
  /// Bytes of the device that CUDA shows, of which a memory fraction is a part; nothing: what is available.
  std::optional<std::uint64_t> total;
  /// New segments get the addresses that the source recorded, in their order; for checking the model.
  bool recorded_addresses = false;
  /// So many events; the rest is left out.
  std::size_t until = std::numeric_limits<std::size_t>::max();
};

/// A request that found no memory.
struct ReplayFailure {
  std::size_t event = 0;          ///< of the Timeline
  std::uint64_t requested = 0;    ///< bytes of the block
  std::uint64_t from_device = 0;  ///< what the device was asked for
  std::uint64_t allocated = 0, reserved = 0;
  std::uint64_t largest_free = 0;  ///< the largest free block of the request's size class, of any stream
};

/// All in bytes.
struct Replayed {
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
  std::size_t peak_reserved_event = 0;
  std::uint64_t reserved_at_peak_allocated = 0;
  std::uint64_t end_allocated = 0, end_reserved = 0;
  std::uint64_t retries = 0;                 ///< cached memory was given back for a request
  std::optional<ReplayFailure> failure;      ///< the first; the replay ends there
  std::uint64_t recorded_failures = 0;       ///< requests that failed in the source ...
  std::uint64_t recorded_failures_pass = 0;  ///< ... and find memory here
  bool start_is_exact = true;                ///< false: what was older than the recording was laid out anew
};

/// What PyTorch could have when the request of event `at` failed: what it had reserved, and what the driver had free,
/// where the source says it. Bytes.
std::uint64_t available_at_failure(const timeline::Timeline& timeline, std::size_t at, std::uint64_t reserved);

/// Blocks older than the recording keep their places, unless the settings put them elsewhere (expandable segments):
/// then they are requested anew in the order of their addresses. Segments that the source gave back without need count
/// as empty_cache(). O(events log free blocks).
Replayed replay(const timeline::Timeline& timeline, const timeline::InitialState& initial,
                const ReplayOptions& options);

}  // namespace ullage::allocator
