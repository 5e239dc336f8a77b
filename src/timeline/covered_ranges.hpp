// SPDX-License-Identifier: Apache-2.0
// Segments for a source that states none (a profiler's trace): every range that allocations ever covered.
#pragma once

#include <vector>

#include "timeline/allocations.hpp"

namespace ullage::timeline {

/// The state after the last event, as Timeline states it: blocks refer to the allocations that still live.
struct FinalState {
  std::vector<Segment> segments;
  std::vector<Block> blocks;
};

/// Each range is one segment, on the first stream, expandable: so that a replay cuts blocks exactly to their sizes.
/// What the real allocator reserved beyond is not in it. O(n log n).
FinalState covered_ranges(const Allocations& allocations);

}  // namespace ullage::timeline
