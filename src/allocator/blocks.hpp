// SPDX-License-Identifier: Apache-2.0
// The blocks of the allocator model and the sets of free ones.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "allocator/device.hpp"

namespace ullage::allocator {

using BlockId = std::uint32_t;
/// A stream's number as PyTorch orders them: its handle. 0 is the default stream.
using Stream = std::uint64_t;
/// A private pool of CUDA graphs or of torch.cuda.MemPool; 0 is the default pools.
using PoolId = std::uint32_t;

/// What a private pool is opened for: the capture of a CUDA graph, or torch.cuda.use_mem_pool.
enum class PoolUse : std::uint8_t { capture, requests };

inline constexpr BlockId no_block = std::numeric_limits<BlockId>::max();
inline constexpr std::uint32_t no_segment = std::numeric_limits<std::uint32_t>::max();

struct Block {
  Address address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  Stream stream = 0;
  BlockId previous = no_block, next = no_block;  ///< neighbours in the segment
  std::uint32_t pool = 0;                        ///< which BlockPool
  std::uint32_t expandable = no_segment;         ///< which expandable segment
  std::uint32_t events = 0;                      ///< that must pass before it is free
  bool allocated = false;
  bool mapped = true;
  bool used_elsewhere = false;    ///< record_stream was called: the streams are kept apart
  std::uint64_t inserted_at = 0;  ///< the pool's request counter when it became free
  std::uint32_t age = 0;          ///< how many segments were taken before its own; 0 where that decides nothing

  [[nodiscard]] bool is_split() const { return previous != no_block || next != no_block; }
  [[nodiscard]] bool busy() const { return allocated || events > 0 || used_elsewhere; }
};

/// Free blocks of one stream, by size, then by age, then by address.
struct FreeKey {
  std::uint64_t size = 0;
  Address address = 0;
  BlockId block = no_block;
  std::uint32_t age = 0;
  friend bool operator<(const FreeKey& a, const FreeKey& b) {
    if (a.size != b.size) return a.size < b.size;
    return a.age != b.age ? a.age < b.age : a.address < b.address;
  }
};

using FreeBlocks = std::set<FreeKey>;
using UnmappedBlocks = std::map<Address, BlockId>;

/// A pool of one size class: free blocks and unmapped addresses, stream by stream in the order of their numbers.
struct BlockPool {
  bool small = false;
  PoolId owner = 0;
  std::map<Stream, FreeBlocks> free;
  std::map<Stream, UnmappedBlocks> unmapped;
  std::uint64_t requests = 0;  ///< counted while the garbage collector is on
};

/// Blocks by number; numbers of erased blocks are used again.
class BlockTable {
 public:
  BlockId add(const Block& block) {
    if (unused_.empty()) {
      blocks_.push_back(block);
      return static_cast<BlockId>(blocks_.size() - 1);
    }
    const BlockId id = unused_.back();
    unused_.pop_back();
    blocks_[id] = block;
    return id;
  }
  void erase(BlockId id) {
    blocks_[id].size = 0;
    unused_.push_back(id);
  }
  Block& operator[](BlockId id) { return blocks_[id]; }
  const Block& operator[](BlockId id) const { return blocks_[id]; }
  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

 private:
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;
};

}  // namespace ullage::allocator
