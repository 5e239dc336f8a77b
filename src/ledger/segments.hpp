// SPDX-License-Identifier: Apache-2.0
// The segments that PyTorch holds at one moment, block by block with their owners, and who keeps the half-empty ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ledger/breakdown.hpp"
#include "timeline/initial_state.hpp"

namespace ullage::ledger {

struct BlockOwner {
  attribution::Category category = attribution::Category::unattributed;
  std::string what;    ///< "h.3.attn, aten::softmax", a tensor's name, or its kind; empty where that is not known
  std::string layers;  ///< the same with the numbers of layers as `*`
  std::string line;    ///< "file:line function"; empty where that is not known
};

inline constexpr std::size_t no_owner = std::numeric_limits<std::size_t>::max();

/// A block of a segment. Bytes.
struct OwnedBlock {
  std::uint64_t offset = 0;  ///< from the segment's address
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;
  timeline::BlockState state = timeline::BlockState::inactive;
  std::size_t owner = no_owner;  ///< index into Segments::owners; `no_owner` for a free one
};

/// What an owner has in a segment, or in several.
struct Pin {
  std::size_t owner = no_owner;  ///< index into Segments::owners: the first of those with the same layers and line
  std::uint64_t bytes = 0;
};

/// Bytes.
struct OwnedSegment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;  ///< the source's own number
  bool small = false;        ///< of the small pool
  bool expandable = false;
  std::uint64_t allocated = 0;
  std::uint64_t holes = 0;         ///< free blocks; what is neither waits for another stream to be free
  std::uint64_t largest_hole = 0;  ///< the largest free block
  std::vector<OwnedBlock> blocks;  ///< in order, without gaps
  std::vector<Pin> pinned_by;      ///< the most bytes first; only where at least half lies idle
  [[nodiscard]] std::uint64_t idle() const { return bytes - allocated; }
};

/// One owner over all the segments that it pins. Bytes.
struct PinnedIdle {
  Pin pin;
  std::uint64_t segments = 0;
  std::uint64_t idle = 0;  ///< in these segments; one with several owners counts for each of them
};

/// A request that failed at this moment. Bytes.
struct RefusedRequest {
  std::uint64_t bytes = 0;
  std::uint64_t stream = 0;                   ///< the source's own number
  bool small = false;                         ///< of the small pool
  std::uint64_t holes = 0, largest_hole = 0;  ///< of its own stream and pool
};

/// Bytes. The blocks of a segment add up to it, the segments to `reserved`.
struct Segments {
  std::vector<BlockOwner> owners;
  std::vector<OwnedSegment> segments;  ///< the most idle bytes first
  std::vector<PinnedIdle> pinned_by;   ///< the most idle bytes first
  std::uint64_t reserved = 0, allocated = 0, holes = 0, largest_hole = 0;
  std::uint64_t outside = 0;  ///< allocated outside every known segment, as a contradictory source has it
  std::optional<RefusedRequest> request;
  [[nodiscard]] std::uint64_t idle() const { return reserved - allocated; }
};

/// The segments at a cut of a source that has them (a trace has none). `initial` is that of the cut's allocations.
/// O(events + blocks log blocks).
Segments segments_at(const Cut& cut, const timeline::InitialState& initial);

/// Every violation of "blocks add up to their segment, segments to reserved" as a text; empty when it holds.
std::vector<std::string> check(const Segments& segments);

}  // namespace ullage::ledger
