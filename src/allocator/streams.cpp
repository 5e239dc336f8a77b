// SPDX-License-Identifier: Apache-2.0
// Blocks that other streams use: freed when an event on each of these streams has passed.
#include "allocator/caching_allocator.hpp"

namespace ullage::allocator {

void CachingAllocator::record_stream(BlockId id, Stream stream) {
  Block& block = blocks_[id];
  if (stream == block.stream) return;
  block.used_elsewhere = true;
  uses_[id].insert(stream);
  if (capturing()) capture_uses_[id].insert(stream);
}

void CachingAllocator::set_busy(Stream stream, bool busy) {
  if (busy) {
    busy_.insert(stream);
    return;
  }
  busy_.erase(stream);
  if (const auto found = pending_.find(stream); found != pending_.end())
    for (Event& event : found->second) event.passed = true;
}

void CachingAllocator::insert_events(BlockId id) {
  const auto uses = uses_.extract(id);
  blocks_[id].used_elsewhere = false;
  if (uses.empty()) return;
  for (const Stream stream : uses.mapped()) {
    ++blocks_[id].events;
    pending_[stream].push_back({id, !busy_.contains(stream)});
  }
}

// What streams did in a capture has passed when the capture is over.
void CachingAllocator::forget_capture_uses(BlockId id) {
  const auto in_capture = capture_uses_.extract(id);
  if (in_capture.empty()) return;
  for (const Stream stream : in_capture.mapped()) uses_[id].erase(stream);
}

void CachingAllocator::insert_deferred_events() {
  for (const BlockId id : deferred_) {
    forget_capture_uses(id);
    insert_events(id);
    if (blocks_[id].events == 0) return_block(id);
  }
  deferred_.clear();
}

// Stream by stream, as far as the first event that has not passed.
void CachingAllocator::process_events() {
  if (pending_.empty() && deferred_.empty()) return;
  insert_deferred_events();
  for (auto of_stream = pending_.begin(); of_stream != pending_.end();) {
    auto& queue = of_stream->second;
    while (!queue.empty() && queue.front().passed) {
      const BlockId id = queue.front().block;
      queue.pop_front();
      if (--blocks_[id].events == 0) return_block(id);
    }
    of_stream = queue.empty() ? pending_.erase(of_stream) : std::next(of_stream);
  }
}

void CachingAllocator::synchronize_all() {
  ++statistics_.num_sync_all_streams;
  insert_deferred_events();
  for (auto& [stream, queue] : pending_) {
    for (Event& event : queue) {
      if (!event.passed) busy_.erase(stream);  // the event came after the work
      event.passed = true;
    }
  }
  process_events();
}

}  // namespace ullage::allocator
