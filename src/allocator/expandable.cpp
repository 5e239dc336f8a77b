// SPDX-License-Identifier: Apache-2.0
// Expandable segments: one range of addresses per stream and pool, to which pages are mapped as they are needed.
#include "allocator/caching_allocator.hpp"

#include <algorithm>

namespace ullage::allocator {

using timeline::Action;

std::uint64_t CachingAllocator::expandable_size(BlockId id) const {
  const Block& block = blocks_[id];
  const bool grows = block.next != no_block && !blocks_[block.next].mapped;
  return block.size + (grows ? blocks_[block.next].size : 0);
}

// The lowest place of the stream's segments where so many bytes are free or not mapped; else a new segment.
BlockId CachingAllocator::find_expandable(const Request& request) {
  const auto has_room = [&](BlockId id) {
    std::uint64_t bytes = 0;
    for (; bytes < request.size && id != no_block && !blocks_[id].busy(); id = blocks_[id].next)
      bytes += blocks_[id].size;
    return bytes >= request.size;
  };
  auto& unmapped = pools_[request.pool].unmapped[request.stream];
  for (const auto& [address, unmapped_id] : unmapped) {
    const BlockId before = blocks_[unmapped_id].previous;
    const BlockId id = before != no_block && !blocks_[before].busy() ? before : unmapped_id;
    if (has_room(id)) return id;
  }
  const std::uint64_t page = pools_[request.pool].small ? timeline::small_segment_bytes : settings_.large_segment_bytes;
  const std::uint64_t bytes = address_space::round_up(device_.total() + device_.total() / 8, page);
  expandable_.push_back({device_.reserve(bytes), bytes, page});
  Block block;
  block.address = expandable_.back().address, block.size = bytes;
  block.stream = request.stream, block.pool = request.pool;
  block.mapped = false, block.age = next_age();
  block.expandable = static_cast<std::uint32_t>(expandable_.size() - 1);
  const BlockId id = blocks_.add(block);
  unmapped.emplace(block.address, id);
  return id;
}

BlockId CachingAllocator::add_neighbour(BlockId of, bool before, Address address, std::uint64_t bytes) {
  Block block;
  block.address = address, block.size = bytes;
  block.stream = blocks_[of].stream, block.pool = blocks_[of].pool;
  block.expandable = blocks_[of].expandable, block.age = blocks_[of].age;
  block.previous = before ? blocks_[of].previous : of;
  block.next = before ? of : blocks_[of].next;
  const BlockId id = blocks_.add(block);
  if (block.previous != no_block) blocks_[block.previous].next = id;
  if (block.next != no_block) blocks_[block.next].previous = id;
  return id;
}

// Maps whole pages from the beginning of an unmapped block, at least so many bytes; false when there is no memory.
bool CachingAllocator::map_block(BlockId id, std::uint64_t bytes) {
  const std::uint64_t page = expandable_[blocks_[id].expandable].page;
  const std::uint64_t mapped = address_space::round_up(bytes, page);
  if (!device_.map(mapped)) return false;
  const Block before = blocks_[id];
  auto& unmapped = pools_[before.pool].unmapped[before.stream];
  unmapped.erase(before.address);
  blocks_[id].mapped = true;
  if (mapped < before.size) {
    const BlockId rest = add_neighbour(id, false, before.address + mapped, before.size - mapped);
    blocks_[rest].mapped = false;
    blocks_[id].size = mapped;
    unmapped.emplace(blocks_[rest].address, rest);
  }
  merge(id, blocks_[id].previous);
  merge(id, blocks_[id].next);
  insert_free(id);
  total_allocated_ += mapped;
  statistics_.reserved_bytes.increase(pools_[before.pool].small, mapped);
  ++statistics_.num_device_alloc;
  note(Action::segment_map, before.address, mapped, before.stream);
  return true;
}

BlockId CachingAllocator::allocate_expandable(const Request& request) {
  BlockId id = find_expandable(request);
  if (!blocks_[id].mapped && !map_block(id, std::min(blocks_[id].size, request.size))) return no_block;
  while (blocks_[id].size < request.size) {
    const BlockId next = blocks_[id].next;
    if (!map_block(next, std::min(request.size - blocks_[id].size, blocks_[next].size))) return no_block;
    id = next;
  }
  erase_free(id);
  return id;
}

// Gives back the pages that lie wholly inside a free block; a segment without pages gives its addresses back too.
void CachingAllocator::unmap_block(BlockId id) {
  const Block before = blocks_[id];
  const ExpandableSegment& segment = expandable_[before.expandable];
  const Address begin = segment.address + address_space::round_up(before.address - segment.address, segment.page);
  const Address end = segment.address + (before.address + before.size - segment.address) / segment.page * segment.page;
  if (begin >= end) return;
  erase_free(id);
  if (begin > before.address) insert_free(add_neighbour(id, true, before.address, begin - before.address));
  if (before.address + before.size > end)
    insert_free(add_neighbour(id, false, end, before.address + before.size - end));
  Block& block = blocks_[id];
  block.address = begin, block.size = end - begin, block.mapped = false;
  set_busy(before.stream, false);  // unmapping waits for the stream
  device_.unmap(end - begin);
  merge(id, blocks_[id].previous);
  merge(id, blocks_[id].next);
  pools_[before.pool].unmapped[before.stream].emplace(blocks_[id].address, id);
  total_allocated_ -= end - begin;
  statistics_.reserved_bytes.decrease(pools_[before.pool].small, end - begin);
  ++statistics_.num_device_free;
  count_segment(before.pool, -1);
  note(Action::segment_unmap, begin, end - begin, before.stream);
  if (blocks_[id].is_split()) return;
  device_.release_addresses(segment.address, segment.bytes);
  pools_[before.pool].unmapped[before.stream].erase(blocks_[id].address);
  blocks_.erase(id);
}

}  // namespace ullage::allocator
