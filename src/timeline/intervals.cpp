// SPDX-License-Identifier: Apache-2.0
#include "timeline/intervals.hpp"

namespace ullage::timeline {

void IntervalTracker::open(const BlockReplay& replay) {
  const std::size_t at = replay.position();
  const Counters& now = replay.now();
  current_ = {at, at, now, {now.allocated, at}, {now.reserved, at}, {now.requested, at}};
}

Interval IntervalTracker::close(const BlockReplay& replay) {
  Interval done = current_;
  done.end = replay.position();
  done.at_end = replay.now();
  open(replay);
  return done;
}

std::vector<Interval> intervals(const Timeline& timeline, const InitialState& initial,
                                std::span<const std::size_t> cuts) {
  BlockReplay replay(timeline, initial);
  IntervalTracker tracker(replay);
  std::vector<Interval> result;
  result.reserve(cuts.size());
  for (const std::size_t cut : cuts) {
    while (replay.position() < cut && replay.step()) tracker.observe(replay);
    result.push_back(tracker.close(replay));
  }
  return result;
}

}  // namespace ullage::timeline
