// SPDX-License-Identifier: Apache-2.0
#include "allocator_simulator.hpp"

namespace ullage::timeline {

namespace {
constexpr std::uint64_t mib = 1ULL << 20;
}

void AllocatorSimulator::emit(Action action, std::uint64_t address, std::uint64_t size) {
  timeline.events.push_back({action, address, size, 0, 0, no_stack});
  after.push_back(counters());
}

Counters AllocatorSimulator::counters() const {
  Counters c;
  for (const auto& [address, held] : held_) {
    c.reserved += held.bytes;
    for (const auto& [start, block] : held.blocks) {
      if (block.state == BlockState::allocated) c.allocated += block.size;
      if (block.state == BlockState::inactive) continue;
      c.active += block.size;
      c.requested += block.requested;
    }
  }
  return c;
}

std::size_t AllocatorSimulator::live_count() const {
  std::size_t count = 0;
  for (const auto& [address, held] : held_) {
    for (const auto& [start, block] : held.blocks) count += block.state == BlockState::allocated;
  }
  return count;
}

Block* AllocatorSimulator::find_free(std::uint64_t rounded, bool small) {
  Block* best = nullptr;
  for (auto& [address, held] : held_) {
    if (held.small != small) continue;
    for (auto& [start, block] : held.blocks) {
      if (block.state != BlockState::inactive || block.size < rounded) continue;
      if (best == nullptr || block.size < best->size) best = &block;
    }
  }
  return best;
}

Block* AllocatorSimulator::grow(std::uint64_t rounded, bool small) {
  const std::uint64_t page = small ? 2 * mib : 20 * mib;
  std::uint64_t bytes = small ? 2 * mib : rounded < 10 * mib ? 20 * mib : (rounded + 2 * mib - 1) / (2 * mib) * 2 * mib;
  std::uint64_t& place = expandable() ? next_page_[small] : next_;
  if (expandable()) bytes = (rounded + page - 1) / page * page;
  const std::uint64_t address = place;
  place += expandable() ? bytes : bytes + 64 * mib;
  Held held{bytes, small, {{address, {address, bytes, 0, BlockState::inactive, no_stack}}}};
  held_.emplace(address, held);
  merge_all();
  emit(expandable() ? Action::segment_map : Action::segment_alloc, address, bytes);
  return find_free(rounded, small);
}

void AllocatorSimulator::allocate(std::uint64_t bytes) {
  const std::uint64_t rounded = round_size(bytes, timeline.settings);
  const bool small = rounded <= mib;
  Block* block = find_free(rounded, small);
  if (block == nullptr) block = grow(rounded, small);
  const std::uint64_t rest = block->size - rounded;
  if (should_split(rounded, rest, small, expandable(), timeline.settings)) {
    block->size = rounded;
    const std::uint64_t back = block->address + rounded;
    held_of(block->address).blocks[back] = {back, rest, 0, BlockState::inactive, no_stack};
  }
  block->state = BlockState::allocated;
  block->requested = bytes;
  emit(Action::alloc, block->address, bytes);
}

void AllocatorSimulator::free(std::size_t n, bool complete_now) {
  for (auto& [address, held] : held_) {
    for (auto& [start, block] : held.blocks) {
      if (block.state != BlockState::allocated || n-- != 0) continue;
      block.state = BlockState::pending_free;
      emit(Action::free_requested, start, block.requested);
      if (complete_now) complete(block);
      return;
    }
  }
}

void AllocatorSimulator::complete(Block& block) {
  const std::uint64_t address = block.address, requested = block.requested;
  block.state = BlockState::inactive;
  block.requested = 0;
  merge_all();
  emit(Action::free_completed, address, requested);
}

void AllocatorSimulator::complete_pending() {
  for (bool found = true; found;) {
    found = false;
    for (auto& [address, held] : held_) {
      for (auto& [start, block] : held.blocks) {
        if (block.state != BlockState::pending_free) continue;
        complete(block);
        found = true;
        break;
      }
      if (found) break;
    }
  }
}

void AllocatorSimulator::merge_all() {
  for (auto it = held_.begin(); expandable() && it != held_.end();) {
    const auto next = std::next(it);
    if (next == held_.end()) break;
    if (it->first + it->second.bytes == next->first && it->second.small == next->second.small) {
      it->second.bytes += next->second.bytes;
      it->second.blocks.merge(next->second.blocks);
      held_.erase(next);
    } else {
      it = next;
    }
  }
  for (auto& [address, held] : held_) {
    for (auto it = held.blocks.begin(); it != held.blocks.end();) {
      const auto next = std::next(it);
      if (next == held.blocks.end()) break;
      if (it->second.state == BlockState::inactive && next->second.state == BlockState::inactive) {
        it->second.size += next->second.size;
        held.blocks.erase(next);
      } else {
        it = next;
      }
    }
  }
}

void AllocatorSimulator::empty_cache() {
  complete_pending();
  std::vector<std::uint64_t> free;
  for (const auto& [address, held] : held_) {
    if (held.blocks.size() == 1 && held.blocks.begin()->second.state == BlockState::inactive) free.push_back(address);
  }
  for (const std::uint64_t address : free) {
    const std::uint64_t bytes = held_[address].bytes;
    held_.erase(address);
    emit(expandable() ? Action::segment_unmap : Action::segment_free, address, bytes);
  }
  if (!expandable()) return;
  for (auto it = held_.begin(); it != held_.end(); ++it) unmap_pages(it);
}

// Gives back the whole pages at the end of a range when its last block is free.
void AllocatorSimulator::unmap_pages(std::map<std::uint64_t, Held>::iterator it) {
  Held& held = it->second;
  Block& last = held.blocks.rbegin()->second;
  const std::uint64_t page = held.small ? 2 * mib : 20 * mib;
  const std::uint64_t bytes = last.state == BlockState::inactive ? last.size / page * page : 0;
  if (bytes == 0 || bytes == held.bytes) return;
  held.bytes -= bytes;
  last.size -= bytes;
  if (last.size == 0) held.blocks.erase(last.address);
  emit(Action::segment_unmap, it->first + held.bytes, bytes);
}

void AllocatorSimulator::finish(std::size_t first_event) {
  for (const auto& [address, held] : held_) {
    timeline.segments.push_back(
        {address, held.bytes, 0, held.small, expandable(), timeline.blocks.size(), held.blocks.size()});
    for (const auto& [start, block] : held.blocks) timeline.blocks.push_back(block);
  }
  Events kept;
  for (std::size_t i = first_event; i < timeline.events.count(); ++i) kept.push_back(timeline.events.at(i));
  timeline.events = std::move(kept);
}

}  // namespace ullage::timeline
