// SPDX-License-Identifier: Apache-2.0
// Replays the events of a Timeline over its segments and gives every block its exact size.
//
// Events carry requested sizes. The size of the block follows from the free block at the address and PyTorch's rules
// (size_rules.hpp): the front of the free block is handed out, the remainder is split off or belongs to the block; a
// completed free merges with free neighbours of the same range.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/address_map.hpp"
#include "timeline/initial_state.hpp"
#include "timeline/timeline.hpp"

namespace ullage::timeline {

/// PyTorch's counters, in bytes, as its own statistics define them.
struct Counters {
  std::uint64_t allocated = 0;  ///< block sizes, until the free is requested
  std::uint64_t active = 0;     ///< block sizes, until the free is completed
  std::uint64_t requested = 0;  ///< requested sizes of the active blocks
  std::uint64_t reserved = 0;   ///< segments and mapped ranges
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// What did not fit together during a replay; all zero for a complete, consistent source.
struct ReplayEvidence {
  std::uint64_t assumed_sizes = 0;  ///< blocks older than the trace whose size was chosen by the rules
  std::uint64_t unplaced = 0;       ///< allocations outside every known segment
  std::uint64_t misplaced = 0;      ///< allocations that did not start at a free block that is large enough
  std::uint64_t unknown_frees = 0;  ///< frees of addresses that held nothing
  std::uint64_t bad_segments = 0;   ///< segment events that contradict the state, or cannot be true
  friend bool operator==(const ReplayEvidence&, const ReplayEvidence&) = default;
};

/// A live block.
struct LiveBlock {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  std::uint32_t born = 0;  ///< index of its alloc event; `before_trace` when it is older
  bool pending = false;    ///< its free was requested, not completed
  static constexpr std::uint32_t before_trace = 0xffffffffU;
};

/// The true size of a block that was older than the trace.
struct SizeCorrection {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

/// A replay in progress. O(1) per event; memory is proportional to the blocks that live at the same time.
class BlockReplay {
 public:
  /// Starts at the initial state. The timeline must outlive the replay.
  BlockReplay(const Timeline& timeline, const InitialState& initial);

  /// Replays the next event; false at the end.
  bool step();
  /// Replays until `position` events are done.
  void advance_to(std::size_t position);

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] const Counters& now() const { return now_; }
  [[nodiscard]] const ReplayEvidence& evidence() const { return evidence_; }
  /// The live block that starts at `address`.
  [[nodiscard]] std::optional<LiveBlock> live_at(std::uint64_t address) const;
  /// All live blocks, sorted by address.
  [[nodiscard]] std::vector<LiveBlock> live_blocks() const;
  /// All ranges with all their blocks, as Timeline states them (streams and stacks are not filled in).
  void final_state(std::vector<Segment>& segments, std::vector<Block>& blocks) const;
  /// Blocks older than the trace whose assumed size a later allocation proved wrong, with their true size.
  [[nodiscard]] const std::vector<SizeCorrection>& corrections() const { return corrections_; }

 private:
  using NodeId = std::uint32_t;
  static constexpr NodeId none = AddressMap::none;

  struct Node {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    NodeId prev = none;
    NodeId next = none;
    std::uint32_t born = LiveBlock::before_trace;
    BlockState state = BlockState::inactive;
    bool small = false;
    bool expandable = false;
    bool assumed = false;
    bool placed = true;  ///< inside a known range
  };
  struct Held {
    std::uint64_t bytes = 0;
    NodeId first = none;
    NodeId last = none;
    bool small = false;
    bool expandable = false;
  };
  using HeldMap = std::map<std::uint64_t, Held>;

  NodeId new_node(const Node& node);
  void drop_node(NodeId id);
  void place_initial(const InitialBlock& block);
  void take(NodeId id, std::uint64_t size);
  void occupy(NodeId id, std::uint64_t requested, std::uint32_t born);
  void on_alloc(std::uint64_t address, std::uint64_t requested);
  void occupy_unplaced(std::uint64_t address, std::uint64_t requested, std::uint64_t size, std::uint32_t born);
  void on_free(std::uint64_t address, bool completed);
  void release(NodeId id);
  NodeId merge(NodeId front, NodeId back);
  NodeId split(NodeId id, std::uint64_t front_size);
  NodeId containing(std::uint64_t address) const;
  NodeId carve(std::uint64_t address, std::uint64_t rounded);
  bool correct_assumed(NodeId id, std::uint64_t end);
  void resize_assumed(NodeId id, std::uint64_t size);
  void on_segment_alloc(std::uint64_t address, std::uint64_t bytes, bool expandable);
  void on_segment_free(std::uint64_t address);
  void on_unmap(std::uint64_t address, std::uint64_t bytes);
  void cut_range(HeldMap::iterator held, NodeId hole);
  void add_range(const Range& range);
  void join_ranges(std::uint64_t address);
  HeldMap::iterator held_of(std::uint64_t address);
  HeldMap::const_iterator held_of(std::uint64_t address) const;
  bool overlaps(std::uint64_t address, std::uint64_t bytes) const;

  const Timeline& timeline_;
  std::vector<Node> nodes_;
  std::vector<NodeId> unused_;
  AddressMap by_address_;
  HeldMap held_;
  Counters now_;
  ReplayEvidence evidence_;
  std::vector<SizeCorrection> corrections_;
  std::size_t position_ = 0;
  bool frees_are_requested_ = true;
};

/// Rewinds, and replays once or more to settle the sizes that rewinding had to assume.
InitialState settled_initial_state(const Timeline& timeline);

/// A difference between a replay's end and the segments that the source states.
struct Mismatch {
  std::uint64_t address = 0;
  std::string what;  ///< for example "block size 1024, the source says 512"
};

/// Compares the state after the last event with the source's segments: addresses, sizes and states of all segments and
/// blocks. Empty when they are equal. Steps the replay to its end first.
std::vector<Mismatch> compare_with_source(BlockReplay& replay, const Timeline& timeline);

}  // namespace ullage::timeline
