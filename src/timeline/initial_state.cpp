// SPDX-License-Identifier: Apache-2.0
#include "timeline/initial_state.hpp"

#include <algorithm>
#include <map>

#include "timeline/address_map.hpp"

namespace ullage::timeline {

namespace {

using Ranges = std::map<std::uint64_t, Range>;

bool is_free(Action action) {
  return action == Action::free_requested || action == Action::free_completed;
}

bool sane(std::uint64_t address, std::uint64_t bytes) {
  return bytes > 0 && bytes <= max_request_bytes && address <= ~std::uint64_t{0} - bytes;
}

bool overlaps(const Ranges& ranges, std::uint64_t address, std::uint64_t bytes) {
  const auto after = ranges.lower_bound(address);
  if (after != ranges.end() && after->first < address + bytes) return true;
  if (after == ranges.begin()) return false;
  const Range& before = std::prev(after)->second;
  return before.address + before.bytes > address;
}

// Undoes segment events, last first, on the set of ranges.
class SegmentRewinder {
 public:
  SegmentRewinder(const Timeline& timeline, std::uint64_t& inconsistent)
      : timeline_(timeline), inconsistent_(inconsistent) {
    for (const Segment& s : timeline.segments) add({s.address, s.bytes, s.small, s.expandable});
  }

  std::vector<Range> run(const std::vector<std::size_t>& segment_events) {
    for (auto it = segment_events.rbegin(); it != segment_events.rend(); ++it) undo(timeline_.events.at(*it));
    std::vector<Range> result;
    for (const auto& [address, range] : ranges_) result.push_back(range);
    return result;
  }

 private:
  void add(const Range& range) {
    if (!sane(range.address, range.bytes) || overlaps(ranges_, range.address, range.bytes)) {
      ++inconsistent_;
    } else {
      ranges_.emplace(range.address, range);
    }
  }

  void undo(const Event& e) {
    if (!sane(e.address, e.size)) {
      ++inconsistent_;
    } else if (e.action == Action::segment_alloc) {
      inconsistent_ += ranges_.erase(e.address) == 0;
    } else if (e.action == Action::segment_free) {
      add({e.address, e.size, e.size == small_segment_bytes, false});
    } else if (e.action == Action::segment_map) {
      subtract(e.address, e.size);
    } else {
      join({e.address, e.size, false, true});
    }
  }

  void subtract(std::uint64_t address, std::uint64_t bytes) {
    auto it = ranges_.upper_bound(address);
    if (it == ranges_.begin() || (--it)->second.address + it->second.bytes < address + bytes) {
      ++inconsistent_;
      return;
    }
    const Range whole = it->second;
    ranges_.erase(it);
    Range front = whole, back = whole;
    front.bytes = address - whole.address;
    back.address = address + bytes;
    back.bytes = whole.address + whole.bytes - back.address;
    if (front.bytes > 0) ranges_.emplace(front.address, front);
    if (back.bytes > 0) ranges_.emplace(back.address, back);
  }

  void join(Range range) {
    if (overlaps(ranges_, range.address, range.bytes)) {
      ++inconsistent_;
      return;
    }
    auto after = ranges_.find(range.address + range.bytes);
    if (after != ranges_.end() && after->second.expandable) {
      range.bytes += after->second.bytes;
      after = ranges_.erase(after);
    } else {
      after = ranges_.lower_bound(range.address);
    }
    if (after != ranges_.begin()) {
      Range& before = std::prev(after)->second;
      if (before.expandable && before.address + before.bytes == range.address) {
        before.bytes += range.bytes;
        return;
      }
    }
    ranges_.emplace(range.address, range);
  }

  const Timeline& timeline_;
  std::uint64_t& inconsistent_;
  Ranges ranges_;
};

// Finds the blocks that the events free, or the final state holds, without an alloc event.
class BlockScan {
 public:
  explicit BlockScan(const Timeline& timeline) : timeline_(timeline) {}

  void run(InitialState& out) {
    const Events& events = timeline_.events;
    out.frees_are_requested = std::ranges::find(events.action, Action::free_requested) != events.action.end();
    for (std::size_t i = 0; i < events.count(); ++i) {
      const Action action = events.action[i];
      if (action == Action::alloc) {
        seen_.set(events.address[i], 0);
      } else if (is_free(action) && seen_.find(events.address[i]) == AddressMap::none) {
        add_freed(events.at(i), out);
      } else if (action >= Action::segment_alloc && action <= Action::segment_unmap) {
        segment_events.push_back(i);
      }
    }
    for (const Block& block : timeline_.blocks) add_live(block, out);
  }

  std::vector<std::size_t> segment_events;

 private:
  void add_freed(const Event& e, InitialState& out) {
    seen_.set(e.address, 0);
    if (!sane(e.address, e.size)) {
      ++out.inconsistent;
      return;
    }
    const bool pending = e.action == Action::free_completed && out.frees_are_requested;
    out.blocks.push_back({e.address, 0, e.size, pending, true});
  }

  void add_live(const Block& block, InitialState& out) {
    if (block.state == BlockState::inactive || seen_.find(block.address) != AddressMap::none) return;
    const bool pending = block.state == BlockState::pending_free;
    out.blocks.push_back({block.address, block.size, block.requested, pending, false});
  }

  const Timeline& timeline_;
  AddressMap seen_;
};

// The size of a block whose free is all that is known of it; `limit` is where the next block or the range's end is.
void choose_size(InitialBlock& block, const Range* range, std::uint64_t limit, const AllocatorSettings& settings) {
  const std::uint64_t rounded = round_size(block.requested, settings);
  block.size = rounded;
  block.assumed = false;
  if (range == nullptr || range->small || range->expandable || settings.expandable_segments) return;
  if (limit <= block.address || limit - block.address <= rounded) return;
  block.assumed = true;
  const std::uint64_t gap = limit - block.address - rounded;
  if (!should_split(rounded, gap, false, false, settings)) block.size = rounded + gap;
}

const Range* range_of(const std::vector<Range>& ranges, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &Range::address);
  if (after == ranges.begin()) return nullptr;
  const Range& range = *std::prev(after);
  return address - range.address < range.bytes ? &range : nullptr;
}

void choose_sizes(InitialState& state, const AllocatorSettings& settings) {
  for (std::size_t i = 0; i < state.blocks.size(); ++i) {
    InitialBlock& block = state.blocks[i];
    if (!block.assumed) continue;
    const Range* range = range_of(state.ranges, block.address);
    std::uint64_t limit = range == nullptr ? 0 : range->address + range->bytes;
    if (i + 1 < state.blocks.size()) limit = std::min(limit, state.blocks[i + 1].address);
    choose_size(block, range, limit, settings);
  }
}

}  // namespace

InitialState rewind(const Timeline& timeline) {
  InitialState state;
  BlockScan scan(timeline);
  scan.run(state);
  state.ranges = SegmentRewinder(timeline, state.inconsistent).run(scan.segment_events);
  std::ranges::stable_sort(state.blocks, {}, &InitialBlock::address);
  choose_sizes(state, timeline.settings);
  return state;
}

}  // namespace ullage::timeline
