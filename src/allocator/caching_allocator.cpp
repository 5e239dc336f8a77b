// SPDX-License-Identifier: Apache-2.0
#include "allocator/caching_allocator.hpp"

#include <algorithm>

namespace ullage::allocator {

using timeline::Action;

namespace {

constexpr std::uint64_t round_large = 2ULL << 20;         // kRoundLarge
constexpr std::uint64_t min_large_request = 10ULL << 20;  // kMinLargeAlloc

}  // namespace

CachingAllocator::CachingAllocator(const Settings& settings, const Rules& rules, Device& device,
                                   timeline::Timeline* events)
    : settings_(settings), rules_(rules), device_(device), events_(events), pools_(2) {
  pools_[0].small = true;
  if (settings.memory_fraction) set_memory_fraction(*settings.memory_fraction);
}

void CachingAllocator::set_settings(const Settings& settings) {
  settings_ = settings;
  if (settings.memory_fraction) set_memory_fraction(*settings.memory_fraction);
}

void CachingAllocator::set_memory_fraction(double fraction) {
  allowed_ = static_cast<std::uint64_t>(fraction * static_cast<double>(device_.total()));
  has_fraction_ = fraction < 1 || rules_.full_fraction_limits;
  settings_.memory_fraction = fraction;
}

bool CachingAllocator::collects() const {
  return has_fraction_ && settings_.garbage_collection_threshold > 0;
}

bool CachingAllocator::capturing() const {
  return std::ranges::any_of(
      captures_, [this](const Capture& open) { return rules_.pools_are_captures || open.use == PoolUse::capture; });
}

void CachingAllocator::note(Action action, Address address, std::uint64_t size, Stream stream) {
  if (events_ == nullptr) return;
  events_->events.push_back({action, address, size, events_->stream_index(stream), 0, timeline::no_stack});
}

// --- a request ---

std::optional<BlockId> CachingAllocator::allocate(std::uint64_t bytes, Stream stream) {
  if (!capturing()) process_events();
  Request request;
  request.size = timeline::round_size(bytes, settings_.sizes);
  request.allocation = allocation_size(request.size);
  request.stream = stream;
  request.pool = pool_for(request.size, stream);
  if (!find_free_block(request) && !get_memory(request)) {
    fail_request(request);
    return std::nullopt;
  }
  return hand_out(request, bytes);
}

std::uint32_t CachingAllocator::pool_for(std::uint64_t size, Stream stream) const {
  const bool small = size <= timeline::small_bytes;
  for (const Capture& capture : captures_) {
    if (capture.stream && *capture.stream != stream) continue;
    const PrivatePool& pool = private_pools_.at(capture.pool);
    return small ? pool.small : pool.large;
  }
  return small ? 0 : 1;
}

std::uint64_t CachingAllocator::allocation_size(std::uint64_t size) const {
  if (size <= timeline::small_bytes) return timeline::small_segment_bytes;
  if (size < min_large_request) return settings_.large_segment_bytes;
  return address_space::round_up(size, round_large);
}

// Best fit on the request's own stream. An oversize block is for oversize requests alone, and no next one is tried.
bool CachingAllocator::find_free_block(Request& request) {
  BlockPool& pool = pools_[request.pool];
  if (collects()) ++pool.requests;
  const auto of_stream = pool.free.find(request.stream);
  if (of_stream == pool.free.end()) return false;
  FreeBlocks& free = of_stream->second;
  auto found = free.lower_bound({request.size});
  if (found == free.end()) return false;
  const auto expandable = [&](auto at) { return blocks_[at->block].expandable != no_segment; };
  if (expandable(found) && settings_.sizes.expandable_segments) {
    // A block at the end of what is mapped counts with all it could grow to.
    for (auto next = std::next(found);
         expandable(found) && next != free.end() && expandable_size(next->block) < expandable_size(found->block);
         ++next)
      found = next;
  } else if (expandable(found)) {
    while (found != free.end() && expandable(found)) ++found;
    if (found == free.end()) return false;
  }
  const std::uint64_t most = settings_.sizes.max_split_bytes;
  if (request.size < most && found->size >= most) return false;
  if (request.size >= most && found->size >= request.size + settings_.max_non_split_rounding) return false;
  request.block = found->block;
  take_out(free, found);
  return true;
}

bool CachingAllocator::get_memory(Request& request) {
  if (collects()) collect_garbage();
  if (allocate_segment(request, false)) return true;
  if (release_oversize(request) && allocate_segment(request, false)) return true;
  if (capturing()) return false;
  release_cached();
  return allocate_segment(request, true);
}

void CachingAllocator::count_segment(std::uint32_t pool, std::int64_t change) {
  if (const PoolId owner = pools_[pool].owner; owner != 0) private_pools_.at(owner).segments += change;
}

bool CachingAllocator::allocate_segment(Request& request, bool is_retry) {
  if (is_retry) ++statistics_.num_alloc_retries;
  if (has_fraction_ && total_allocated_ + request.allocation > allowed_) return false;
  if (settings_.sizes.expandable_segments) {
    request.block = allocate_expandable(request);
    if (request.block != no_block) count_segment(request.pool, 1);
    return request.block != no_block;
  }
  const auto address = device_.allocate(request.allocation);
  if (!address) return false;
  count_segment(request.pool, 1);
  total_allocated_ += request.allocation;
  Block block;
  block.address = *address, block.size = request.allocation;
  block.stream = request.stream, block.pool = request.pool, block.age = next_age();
  request.block = blocks_.add(block);
  const bool small = pools_[request.pool].small;
  statistics_.segment.increase(small, 1);
  statistics_.reserved_bytes.increase(small, request.allocation);
  if (request.allocation >= settings_.sizes.max_split_bytes) statistics_.oversize_segments.increase(1);
  ++statistics_.num_device_alloc;
  note(Action::segment_alloc, *address, request.allocation, request.stream);
  return true;
}

void CachingAllocator::fail_request(const Request& request) {
  ++statistics_.num_ooms;
  failed_bytes_ = request.allocation;
  note(Action::oom, 0, request.size, request.stream);
}

// --- handing out and taking back ---

BlockId CachingAllocator::split_front(BlockId whole, std::uint64_t size) {
  Block front = blocks_[whole];
  front.size = size, front.next = whole;
  front.used_elsewhere = false, front.inserted_at = 0;
  const BlockId id = blocks_.add(front);
  if (front.previous != no_block) blocks_[front.previous].next = id;
  Block& rest = blocks_[whole];
  rest.previous = id, rest.address += size, rest.size -= size;
  insert_free(whole);
  return id;
}

void CachingAllocator::count_split(BlockId taken, BlockId remaining, bool was_split) {
  const Block& block = blocks_[taken];
  if (block.expandable != no_segment) return;
  const bool small = pools_[block.pool].small;
  if (remaining == no_block) {
    if (!was_split) return;
    statistics_.inactive_split_bytes.decrease(small, block.size);
    statistics_.inactive_split.decrease(small, 1);
  } else if (was_split) {
    statistics_.inactive_split_bytes.decrease(small, block.size);
  } else {
    statistics_.inactive_split_bytes.increase(small, blocks_[remaining].size);
    statistics_.inactive_split.increase(small, 1);
  }
}

BlockId CachingAllocator::hand_out(const Request& request, std::uint64_t requested) {
  BlockId id = request.block;
  const bool small = pools_[request.pool].small;
  const bool was_split = blocks_[id].is_split();
  const bool split = timeline::should_split(request.size, blocks_[id].size - request.size, small,
                                            settings_.sizes.expandable_segments, settings_.sizes);
  if (split) id = split_front(request.block, request.size);
  count_split(id, split ? request.block : no_block, was_split);
  Block& block = blocks_[id];
  block.allocated = true;
  block.requested = requested;
  note(Action::alloc, block.address, requested, block.stream);
  statistics_.allocation.increase(small, 1);
  statistics_.allocated_bytes.increase(small, block.size);
  statistics_.active.increase(small, 1);
  statistics_.active_bytes.increase(small, block.size);
  statistics_.requested_bytes.increase(small, requested);
  if (block.size >= settings_.sizes.max_split_bytes) statistics_.oversize_allocations.increase(1);
  return id;
}

void CachingAllocator::count_free(BlockId id) {
  Block& block = blocks_[id];
  const bool small = pools_[block.pool].small;
  block.allocated = false;
  statistics_.allocation.decrease(small, 1);
  statistics_.allocated_bytes.decrease(small, block.size);
  note(Action::free_requested, block.address, block.requested, block.stream);
  if (block.size >= settings_.sizes.max_split_bytes) statistics_.oversize_allocations.decrease(1);
}

void CachingAllocator::begin_free(BlockId id) {
  count_free(id);
  ++blocks_[id].events;
}

void CachingAllocator::end_free(BlockId id) {
  if (--blocks_[id].events == 0) return_block(id);
}

void CachingAllocator::free(BlockId id) {
  count_free(id);
  if (!blocks_[id].used_elsewhere)
    return_block(id);
  else if (!capturing())
    insert_events(id);
  else
    deferred_.push_back(id);
}

FreeKey CachingAllocator::key_of(BlockId id) const {
  const Block& block = blocks_[id];
  return {block.size, block.address, id, block.age};
}

std::uint32_t CachingAllocator::next_age() {
  return rules_.oldest_first ? ++segments_taken_ : 0;
}

void CachingAllocator::insert_free(BlockId id) {
  Block& block = blocks_[id];
  BlockPool& pool = pools_[block.pool];
  block.inserted_at = pool.requests;
  FreeBlocks& free = pool.free[block.stream];
  if (spare_.empty()) {
    free.insert(key_of(id));
    return;
  }
  spare_.back().value() = key_of(id);
  free.insert(std::move(spare_.back()));
  spare_.pop_back();
}

void CachingAllocator::take_out(FreeBlocks& free, FreeBlocks::const_iterator block) {
  spare_.push_back(free.extract(block));
}

void CachingAllocator::erase_free(BlockId id) {
  const Block& block = blocks_[id];
  FreeBlocks& free = pools_[block.pool].free[block.stream];
  take_out(free, free.find(key_of(id)));
}

// Takes a free neighbour into the block; returns its bytes, 0 when it is not free.
std::uint64_t CachingAllocator::merge(BlockId into, BlockId neighbour) {
  if (neighbour == no_block) return 0;
  Block& block = blocks_[into];
  const Block& other = blocks_[neighbour];
  if (other.busy() || other.mapped != block.mapped) return 0;
  if (other.mapped)
    erase_free(neighbour);
  else
    pools_[other.pool].unmapped[other.stream].erase(other.address);
  if (block.previous == neighbour) {
    block.address = other.address, block.previous = other.previous;
    if (block.previous != no_block) blocks_[block.previous].next = into;
  } else {
    block.next = other.next;
    if (block.next != no_block) blocks_[block.next].previous = into;
  }
  const std::uint64_t bytes = other.size;
  block.size += bytes;
  blocks_.erase(neighbour);
  return bytes;
}

void CachingAllocator::return_block(BlockId id) {
  const bool small = pools_[blocks_[id].pool].small;
  const std::uint64_t size = blocks_[id].size, requested = blocks_[id].requested;
  note(Action::free_completed, blocks_[id].address, requested, blocks_[id].stream);
  std::int64_t count = 0, bytes = 0;
  for (const BlockId neighbour : {blocks_[id].previous, blocks_[id].next}) {
    const std::uint64_t merged = merge(id, neighbour);
    count -= merged > 0 ? 1 : 0, bytes -= static_cast<std::int64_t>(merged);
  }
  insert_free(id);
  const Block& block = blocks_[id];
  if (block.is_split()) ++count, bytes += static_cast<std::int64_t>(block.size);
  const auto change = [small](PoolStat& stat, std::int64_t by) {
    if (by > 0) stat.increase(small, static_cast<std::uint64_t>(by));
    if (by < 0) stat.decrease(small, static_cast<std::uint64_t>(-by));
  };
  if (block.expandable == no_segment) {
    change(statistics_.inactive_split, count);
    change(statistics_.inactive_split_bytes, bytes);
  }
  statistics_.active.decrease(small, 1);
  statistics_.active_bytes.decrease(small, size);
  statistics_.requested_bytes.decrease(small, requested);
}

void CachingAllocator::adopt(SegmentView& segment) {
  const std::uint32_t pool = segment.small ? 0 : 1;
  device_.adopt(segment.address, segment.bytes);
  total_allocated_ += segment.bytes;
  statistics_.segment.increase(segment.small, 1);
  statistics_.reserved_bytes.increase(segment.small, segment.bytes);
  const std::uint32_t age = next_age();
  BlockId before = no_block;
  for (BlockView& view : segment.blocks) {
    Block block;
    block.address = view.address, block.size = view.size, block.requested = view.requested;
    block.stream = segment.stream, block.pool = pool, block.previous = before;
    block.age = age;
    block.allocated = view.state == timeline::BlockState::allocated;
    view.id = blocks_.add(block);
    if (before != no_block) blocks_[before].next = view.id;
    before = view.id;
  }
  for (const BlockView& view : segment.blocks) count_adopted(view, segment);
}

void CachingAllocator::count_adopted(const BlockView& view, const SegmentView& segment) {
  if (view.state == timeline::BlockState::allocated) {
    statistics_.allocation.increase(segment.small, 1);
    statistics_.allocated_bytes.increase(segment.small, view.size);
    statistics_.active.increase(segment.small, 1);
    statistics_.active_bytes.increase(segment.small, view.size);
    statistics_.requested_bytes.increase(segment.small, view.requested);
    return;
  }
  insert_free(view.id);
  if (segment.blocks.size() == 1) return;
  statistics_.inactive_split.increase(segment.small, 1);
  statistics_.inactive_split_bytes.increase(segment.small, view.size);
}

// --- private pools ---

void CachingAllocator::begin_pool(PoolId id, std::optional<Stream> stream, PoolUse use) {
  auto [found, is_new] = private_pools_.try_emplace(id);
  if (is_new) {
    for (const bool small : {true, false}) {
      (small ? found->second.small : found->second.large) = static_cast<std::uint32_t>(pools_.size());
      pools_.emplace_back().small = small;
      pools_.back().owner = id;
    }
  } else {
    ++found->second.uses;
  }
  captures_.push_back({id, stream, use});
}

void CachingAllocator::end_pool(PoolId id) {
  const auto found = std::ranges::find(captures_, id, &Capture::pool);
  if (found != captures_.end()) captures_.erase(found);
}

void CachingAllocator::release_pool(PoolId id) {
  const auto found = private_pools_.find(id);
  if (found != private_pools_.end() && --found->second.uses == 0) found->second.freeable = true;
}

// --- looking ---

std::vector<SegmentView> CachingAllocator::segments() const {
  std::vector<SegmentView> result;
  for (BlockId id = 0; id < blocks_.size(); ++id) {
    const Block& head = blocks_[id];
    if (head.size == 0 || !head.mapped) continue;
    if (head.previous != no_block && blocks_[head.previous].mapped) continue;
    SegmentView segment{head.address,
                        0,
                        head.stream,
                        pools_[head.pool].owner,
                        pools_[head.pool].small,
                        head.expandable != no_segment,
                        {}};
    for (BlockId at = id; at != no_block && blocks_[at].mapped; at = blocks_[at].next) {
      const Block& block = blocks_[at];
      const auto state = block.allocated ? timeline::BlockState::allocated
                         : block.busy()  ? timeline::BlockState::pending_free
                                         : timeline::BlockState::inactive;
      segment.blocks.push_back({at, block.address, block.size, block.requested, state});
      segment.bytes += block.size;
    }
    result.push_back(std::move(segment));
  }
  std::ranges::sort(result, {}, &SegmentView::address);
  return result;
}

void CachingAllocator::reset_peaks() {
  const auto reset = [](Stat& stat) { stat.peak = stat.current; };
  for (PoolStat* stat : {&statistics_.allocation, &statistics_.segment, &statistics_.active,
                         &statistics_.inactive_split, &statistics_.allocated_bytes, &statistics_.reserved_bytes,
                         &statistics_.active_bytes, &statistics_.inactive_split_bytes, &statistics_.requested_bytes})
    reset(stat->all), reset(stat->small), reset(stat->large);
  reset(statistics_.oversize_allocations), reset(statistics_.oversize_segments);
}

}  // namespace ullage::allocator
