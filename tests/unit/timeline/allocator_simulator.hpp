// SPDX-License-Identifier: Apache-2.0
// A small, slow and obvious caching allocator that writes down what it does as PyTorch's would: the reference for the
// replay. One stream; segments of 2 MiB, 20 MiB, or expandable in pages.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "timeline/block_replay.hpp"
#include "timeline/timeline.hpp"

namespace ullage::timeline {

class AllocatorSimulator {
 public:
  explicit AllocatorSimulator(bool expandable) { timeline.settings.expandable_segments = expandable; }

  void allocate(std::uint64_t bytes);
  /// Asks for the free of the n-th live block; `complete` does it at once.
  void free(std::size_t n, bool complete);
  void complete_pending();
  void empty_cache();

  [[nodiscard]] std::size_t live_count() const;
  [[nodiscard]] Counters counters() const;
  /// Copies the present state into the timeline's final segments, and drops the events before `first_event`.
  void finish(std::size_t first_event);

  Timeline timeline;
  std::vector<Counters> after;  ///< the counters after each event

 private:
  struct Held {
    std::uint64_t bytes = 0;
    bool small = false;
    std::map<std::uint64_t, Block> blocks;
  };
  Block* find_free(std::uint64_t rounded, bool small);
  Block* grow(std::uint64_t rounded, bool small);
  void emit(Action action, std::uint64_t address, std::uint64_t size);
  void merge_all();
  void complete(Block& block);
  void unmap_pages(std::map<std::uint64_t, Held>::iterator it);
  Held& held_of(std::uint64_t address) { return std::prev(held_.upper_bound(address))->second; }
  [[nodiscard]] bool expandable() const { return timeline.settings.expandable_segments; }

  std::map<std::uint64_t, Held> held_;
  std::uint64_t next_ = 0x7f0000000000;
  std::uint64_t next_page_[2] = {0x100000000000, 0x200000000000};
};

}  // namespace ullage::timeline
