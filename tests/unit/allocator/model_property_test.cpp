// SPDX-License-Identifier: Apache-2.0
// Whatever is asked for, the model's books are in order.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "allocator/caching_allocator.hpp"
#include "timeline/block_replay.hpp"

namespace ullage::allocator {
namespace {

const char* const settings[] = {"", "expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4",
                                "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9"};

void check_books(const CachingAllocator& model, const SimulatedDevice& device) {
  std::uint64_t reserved = 0, allocated = 0, active = 0, requested = 0;
  for (const SegmentView& segment : model.segments()) {
    std::uint64_t sum = 0;
    bool was_free = false;
    for (const BlockView& block : segment.blocks) {
      const bool is_free = block.state == timeline::BlockState::inactive;
      RC_ASSERT(!(was_free && is_free));
      RC_ASSERT(block.address == segment.address + sum);
      was_free = is_free, sum += block.size;
      allocated += block.state == timeline::BlockState::allocated ? block.size : 0;
      active += is_free ? 0 : block.size, requested += is_free ? 0 : block.requested;
    }
    RC_ASSERT(sum == segment.bytes);
    reserved += segment.bytes;
  }
  const Statistics& s = model.statistics();
  RC_ASSERT(s.reserved_bytes.all.current == reserved && device.charged() == reserved);
  RC_ASSERT(s.allocated_bytes.all.current == allocated && s.active_bytes.all.current == active);
  RC_ASSERT(s.requested_bytes.all.current == requested);
}

RC_GTEST_PROP(AllocatorModel, BooksAreInOrder, ()) {
  const auto words = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
  SimulatedDevice device(1ULL << 30, 1ULL << 30);
  CachingAllocator model(*parse_settings(settings[*rc::gen::inRange(0, 5)]), Rules{}, device);
  std::vector<BlockId> held;
  for (const std::uint32_t word : words) {
    const Stream stream = word % 3;
    if (word % 16 < 9) {
      if (const auto block = model.allocate(1 + (word >> 4) % (200U << 20), stream)) held.push_back(*block);
    } else if (word % 16 < 13 && !held.empty()) {
      const std::size_t at = (word >> 4) % held.size();
      model.free(held[at]);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (word % 16 == 13 && !held.empty()) {
      model.record_stream(held.back(), stream);
    } else if (word % 16 == 14) {
      model.set_busy(stream, (word >> 5) % 2 == 0);
    } else {
      model.empty_cache();
    }
    check_books(model, device);
  }
}

// What the model writes down is a history whose replay is the model's own state.
RC_GTEST_PROP(AllocatorModel, ItsHistoryReplays, ()) {
  const auto words = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::arbitrary<std::uint32_t>());
  SimulatedDevice device(1ULL << 30, 1ULL << 30);
  timeline::Timeline history;
  CachingAllocator model(Settings{}, Rules{}, device, &history);
  std::vector<BlockId> held;
  for (const std::uint32_t word : words) {
    if (word % 2 == 0 || held.empty()) {
      if (const auto block = model.allocate(1 + (word >> 4) % (60U << 20), word % 3)) held.push_back(*block);
    } else {
      model.free(held.back());
      held.pop_back();
    }
  }
  timeline::BlockReplay replay(history, timeline::InitialState{});
  replay.advance_to(history.events.count());
  RC_ASSERT(replay.now().reserved == model.statistics().reserved_bytes.all.current);
  RC_ASSERT(replay.now().allocated == model.statistics().allocated_bytes.all.current);
}

}  // namespace
}  // namespace ullage::allocator
