// SPDX-License-Identifier: Apache-2.0
// The memory events of a Trace as a Timeline, so that every allocation of one device has its life.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timeline/initial_state.hpp"
#include "timeline/timeline.hpp"
#include "timeline/trace.hpp"

namespace ullage::timeline {

/// Sizes are those of blocks: the source does not say what was requested. What is older than the trace and freed in it
/// is one initial block each, what is older and stays is one together, whose address is made up.
struct TraceTimeline {
  Timeline timeline;
  InitialState initial;
  std::vector<std::int64_t> time_ns;    ///< of each event, in the trace's clock
  std::vector<std::uint64_t> reserved;  ///< the allocator's total after each event; empty when the source has none
  std::uint64_t older_bytes = 0;        ///< allocated before the first event; a lower bound without totals
  bool has_totals = false;
  std::uint64_t matched_by_size = 0;  ///< frees without an address: taken for the latest allocation of their size
  std::uint64_t lost_frees = 0;       ///< addresses that were given out again without a free in between
  std::uint64_t disagreements = 0;    ///< events whose total is not the sum of the events before
  std::uint64_t largest_disagreement = 0;
};

/// The device whose events have the most bytes; nothing when only the host has any.
std::optional<int> busiest_device(const Trace& trace);

/// The events of one device. Where the source has no addresses, made-up ones are written into the trace, so that its
/// memory events and these allocations can be told to be the same. The trace must be linked. O(n log n).
TraceTimeline timeline_of(Trace& trace, int device);

}  // namespace ullage::timeline
