// SPDX-License-Identifier: Apache-2.0
// Peaks and end values of the intervals between cuts of a Timeline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "timeline/block_replay.hpp"

namespace ullage::timeline {

struct Peak {
  std::uint64_t bytes = 0;
  std::uint64_t event = 0;  ///< index of the event that reached it; `begin` of the interval when it began with it
};

/// One interval [begin, end) of event indexes.
struct Interval {
  std::size_t begin = 0;
  std::size_t end = 0;
  Counters at_end;
  Peak allocated;
  Peak reserved;
  Peak requested;
};

/// Collects an interval while somebody else steps a replay.
class IntervalTracker {
 public:
  explicit IntervalTracker(const BlockReplay& replay) { open(replay); }
  /// To be called after each step.
  void observe(const BlockReplay& replay) {
    const Counters& now = replay.now();
    const std::uint64_t event = replay.position() - 1;
    if (now.allocated > current_.allocated.bytes) current_.allocated = {now.allocated, event};
    if (now.reserved > current_.reserved.bytes) current_.reserved = {now.reserved, event};
    if (now.requested > current_.requested.bytes) current_.requested = {now.requested, event};
  }
  /// Ends the interval at the replay's position and begins the next.
  Interval close(const BlockReplay& replay);

 private:
  void open(const BlockReplay& replay);
  Interval current_;
};

/// The intervals that end at each of `cuts` (event indexes in rising order; larger than the number of events counts as
/// that number). The first begins at 0. One pass.
std::vector<Interval> intervals(const Timeline& timeline, const InitialState& initial,
                                std::span<const std::size_t> cuts);

}  // namespace ullage::timeline
