// SPDX-License-Identifier: Apache-2.0
// The allocator's state before the first event of a Timeline, found by rewinding from the final segments.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/timeline.hpp"

namespace ullage::timeline {

/// A stretch of device memory that the allocator holds: a segment, or a mapped range of an expandable segment.
struct Range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool small = false;
  bool expandable = false;
};

/// A block that lived before the first event.
struct InitialBlock {
  std::uint64_t address = 0;
  std::uint64_t size = 0;  ///< block size; see `assumed`
  std::uint64_t requested = 0;
  bool pending = false;  ///< its free was already requested
  bool assumed = false;  ///< freed during the trace, so that its size is not stated and was chosen by the rules
};

struct InitialState {
  std::vector<Range> ranges;         ///< sorted by address, not overlapping
  std::vector<InitialBlock> blocks;  ///< sorted by address
  bool frees_are_requested = true;  ///< false: the trace has no free_requested events, a completed free stands for both
  std::uint64_t inconsistent = 0;   ///< facts of the source that contradict each other, and were left out
};

/// Rewinds. Blocks without an `alloc` event that are still live have the size the final segments state. Blocks without
/// one that were freed during the trace have the rounded requested size, except in the large pool, where a gap of at
/// most 1 MiB behind the block belongs to it (it would not have been split off). O(events + blocks log blocks).
InitialState rewind(const Timeline& timeline);

}  // namespace ullage::timeline
