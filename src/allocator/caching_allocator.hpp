// SPDX-License-Identifier: Apache-2.0
// PyTorch's CUDA caching allocator as a model: requests in, segments, blocks, statistics and the out-of-memory point
// out. Deterministic. Source of the behaviour: c10/cuda/CUDACachingAllocator.cpp (2.6 to 2.14); a differential test
// runs the same programs by the real one on the virtual GPU (tests/rehearse/test_allocator.py).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "allocator/blocks.hpp"
#include "allocator/device.hpp"
#include "allocator/settings.hpp"
#include "allocator/statistics.hpp"
#include "timeline/timeline.hpp"

namespace ullage::allocator {

/// A block as a snapshot shows it.
struct BlockView {
  BlockId id = no_block;
  Address address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  timeline::BlockState state = timeline::BlockState::inactive;
};

/// One cudaMalloc, or one contiguous mapped range of an expandable segment.
struct SegmentView {
  Address address = 0;
  std::uint64_t bytes = 0;
  Stream stream = 0;
  PoolId pool = 0;
  bool small = false;
  bool expandable = false;
  std::vector<BlockView> blocks;
};

class CachingAllocator {
 public:
  /// The device must outlive the allocator. With `events`, what PyTorch's memory history would record is appended
  /// there (streams by stream_index(), no times, no stacks).
  CachingAllocator(const Settings& settings, const Rules& rules, Device& device, timeline::Timeline* events = nullptr);

  /// Nothing when there is not enough memory (an OutOfMemoryError). `bytes` must be positive and at most
  /// timeline::max_request_bytes.
  std::optional<BlockId> allocate(std::uint64_t bytes, Stream stream = 0);
  /// `block` must be allocated.
  void free(BlockId block);
  /// The two halves of a free whose end the caller knows: asked for, and done when other streams are through.
  void begin_free(BlockId block);
  void end_free(BlockId block);
  /// Takes over a segment of cudaMalloc that was there before, with its blocks in order; writes their numbers into it.
  /// Segments count as taken in the order of these calls.
  void adopt(SegmentView& segment);
  /// Tensor.record_stream: the block is not free before the stream has done its work.
  void record_stream(BlockId block, Stream stream);
  /// Work is under way on the stream, or none any more: events recorded meanwhile wait for the latter.
  void set_busy(Stream stream, bool busy);
  /// torch.cuda.empty_cache(): waits for all streams.
  void empty_cache();

  /// torch.cuda.set_per_process_memory_fraction.
  void set_memory_fraction(double fraction);
  void set_settings(const Settings& settings);
  void reset_peaks();

  /// Requests of this stream (of all, without one) go to the private pool until end_pool().
  void begin_pool(PoolId pool, std::optional<Stream> stream, PoolUse use = PoolUse::capture);
  void end_pool(PoolId pool);
  /// The last graph of the pool is gone: empty_cache() may release it.
  void release_pool(PoolId pool);

  [[nodiscard]] const Block& block(BlockId id) const { return blocks_[id]; }
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  /// All segments by address.
  [[nodiscard]] std::vector<SegmentView> segments() const;
  /// What the last request that failed asked the device for.
  [[nodiscard]] std::uint64_t failed_bytes() const { return failed_bytes_; }

 private:
  struct Request {
    std::uint64_t size = 0;        ///< of the block
    std::uint64_t allocation = 0;  ///< of a new segment
    Stream stream = 0;
    std::uint32_t pool = 0;
    BlockId block = no_block;
  };
  struct ExpandableSegment {
    Address address = 0;
    std::uint64_t bytes = 0, page = 0;
  };
  struct PrivatePool {
    std::uint32_t small = 0, large = 0;  ///< indices of its BlockPools
    int uses = 1;
    std::int64_t segments = 0;
    bool freeable = false;
  };
  struct Capture {
    PoolId pool = 0;
    std::optional<Stream> stream;
    PoolUse use = PoolUse::capture;
  };
  struct Event {
    BlockId block = no_block;
    bool passed = false;
  };

  // requests
  [[nodiscard]] std::uint32_t pool_for(std::uint64_t size, Stream stream) const;
  [[nodiscard]] std::uint64_t allocation_size(std::uint64_t size) const;
  bool find_free_block(Request& request);
  bool allocate_segment(Request& request, bool is_retry);
  bool get_memory(Request& request);
  BlockId hand_out(const Request& request, std::uint64_t requested);
  BlockId split_front(BlockId whole, std::uint64_t size);
  void count_split(BlockId taken, BlockId remaining, bool was_split);
  void count_free(BlockId id);
  void count_adopted(const BlockView& view, const SegmentView& segment);
  void fail_request(const Request& request);

  // free blocks
  [[nodiscard]] FreeKey key_of(BlockId id) const;
  [[nodiscard]] std::uint32_t next_age();
  void insert_free(BlockId id);
  void take_out(FreeBlocks& free, FreeBlocks::const_iterator block);
  void erase_free(BlockId id);
  void return_block(BlockId id);
  std::uint64_t merge(BlockId into, BlockId neighbour);

  // streams (streams.cpp)
  void process_events();
  void insert_events(BlockId id);
  void insert_deferred_events();
  void forget_capture_uses(BlockId id);
  void synchronize_all();

  // back to the device (release.cpp)
  void collect_garbage();
  bool release_oversize(const Request& request);
  void release_cached();
  void release_pool_blocks(std::uint32_t pool);
  void release_block(BlockId id);

  // expandable segments (expandable.cpp)
  BlockId allocate_expandable(const Request& request);
  BlockId find_expandable(const Request& request);
  bool map_block(BlockId id, std::uint64_t bytes);
  void unmap_block(BlockId id);
  BlockId add_neighbour(BlockId of, bool before, Address address, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t expandable_size(BlockId id) const;

  void note(timeline::Action action, Address address, std::uint64_t size, Stream stream);
  [[nodiscard]] bool collects() const;
  [[nodiscard]] bool capturing() const;
  void count_segment(std::uint32_t pool, std::int64_t change);

  Settings settings_;
  Rules rules_;
  Device& device_;
  timeline::Timeline* events_;
  Statistics statistics_;
  BlockTable blocks_;
  std::vector<FreeBlocks::node_type> spare_;  ///< memory for the next free blocks
  std::vector<BlockPool> pools_;              ///< 0 small, 1 large, then two for each private pool
  std::vector<ExpandableSegment> expandable_;
  std::map<PoolId, PrivatePool> private_pools_;
  std::vector<Capture> captures_;
  std::map<Stream, std::deque<Event>> pending_;
  std::set<Stream> busy_;
  std::unordered_map<BlockId, std::set<Stream>> uses_, capture_uses_;
  std::vector<BlockId> deferred_;
  std::uint32_t segments_taken_ = 0;   ///< counted where their age decides
  std::uint64_t total_allocated_ = 0;  ///< from the device
  std::uint64_t allowed_ = 0;
  bool has_fraction_ = false;
  std::uint64_t failed_bytes_ = 0;
};

}  // namespace ullage::allocator
