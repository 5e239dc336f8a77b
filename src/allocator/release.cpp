// SPDX-License-Identifier: Apache-2.0
// Memory back to the device: the garbage collector, oversize blocks, everything that is cached.
#include "allocator/caching_allocator.hpp"

#include <iterator>
#include <limits>

namespace ullage::allocator {

using timeline::Action;

void CachingAllocator::release_block(BlockId id) {
  const Block block = blocks_[id];
  const bool small = pools_[block.pool].small;
  ++statistics_.num_device_free;
  note(Action::segment_free, block.address, block.size, block.stream);
  device_.release(block.address, block.size);
  while (!busy_.empty()) set_busy(*busy_.begin(), false);  // cudaFree waits for the device
  total_allocated_ -= block.size;
  count_segment(block.pool, -1);
  statistics_.segment.decrease(small, 1);
  statistics_.reserved_bytes.decrease(small, block.size);
  if (block.size >= settings_.sizes.max_split_bytes) statistics_.oversize_segments.decrease(1);
  erase_free(id);
  blocks_.erase(id);
}

// Passes over the unsplit large blocks that have not been used for longer than the average, until enough is free.
void CachingAllocator::collect_garbage() {
  const auto limit = static_cast<std::uint64_t>(settings_.garbage_collection_threshold * static_cast<double>(allowed_));
  if (total_allocated_ <= limit) return;
  const std::uint64_t target = total_allocated_ - limit;
  BlockPool& pool = pools_[1];
  const auto age = [&](BlockId id) { return pool.requests - blocks_[id].inserted_at; };
  std::vector<BlockId> candidates;
  std::uint64_t ages = 0, reclaimed = 0;
  for (const auto& [stream, free] : pool.free)
    for (const FreeKey& key : free)
      if (!blocks_[key.block].is_split() && blocks_[key.block].expandable == no_segment)
        candidates.push_back(key.block), ages += age(key.block);
  for (bool freed = true; freed && reclaimed < target && !candidates.empty();) {
    const double average = static_cast<double>(ages) / static_cast<double>(candidates.size());
    freed = false;
    std::erase_if(candidates, [&](BlockId id) {
      if (static_cast<double>(age(id)) < average) return false;
      freed = true;
      reclaimed += blocks_[id].size, ages -= age(id);
      release_block(id);
      return true;
    });
  }
}

// With max_split_size: the smallest oversize block that would do, or several from the largest down; none of an
// expandable segment.
bool CachingAllocator::release_oversize(const Request& request) {
  const std::uint64_t most = settings_.sizes.max_split_bytes;
  if (most == std::numeric_limits<std::uint64_t>::max()) return false;
  const auto of_stream = pools_[request.pool].free.find(request.stream);
  if (of_stream == pools_[request.pool].free.end()) return false;
  const FreeBlocks& free = of_stream->second;
  const std::uint64_t wanted = std::max(most, request.size);
  const auto expandable = [&](const FreeKey& key) { return blocks_[key.block].expandable != no_segment; };
  const auto one = free.lower_bound({wanted});
  if (one != free.end() && !expandable(*one)) {
    release_block(one->block);
    return true;
  }
  std::uint64_t released = 0;
  for (auto above = one; released < wanted && above != free.begin();) {
    const FreeKey largest = *std::prev(above);
    if (largest.size < most) break;
    if (expandable(largest)) {
      --above;
      continue;
    }
    released += largest.size;
    release_block(largest.block);
  }
  return released >= wanted;
}

void CachingAllocator::release_pool_blocks(std::uint32_t pool) {
  std::vector<BlockId> whole, expandable;
  for (const auto& [stream, free] : pools_[pool].free) {
    for (const FreeKey& key : free) {
      if (blocks_[key.block].expandable != no_segment)
        expandable.push_back(key.block);
      else if (!blocks_[key.block].is_split())
        whole.push_back(key.block);
    }
  }
  for (const BlockId id : whole) release_block(id);
  for (const BlockId id : expandable) unmap_block(id);
}

void CachingAllocator::release_cached() {
  synchronize_all();
  release_pool_blocks(1);
  release_pool_blocks(0);
  for (auto pool = private_pools_.begin(); pool != private_pools_.end();) {
    if (pool->second.freeable) {
      release_pool_blocks(pool->second.small);
      release_pool_blocks(pool->second.large);
    }
    pool = pool->second.freeable && pool->second.segments == 0 ? private_pools_.erase(pool) : std::next(pool);
  }
}

void CachingAllocator::empty_cache() {
  release_cached();
}

}  // namespace ullage::allocator
