// SPDX-License-Identifier: Apache-2.0
// The results of a replay that walk over all of its state.
#include <algorithm>
#include <utility>

#include "timeline/block_replay.hpp"

namespace ullage::timeline {

namespace {

constexpr int max_settling_rounds = 3;

std::string difference(const char* what, std::uint64_t mine, std::uint64_t theirs) {
  return std::string(what) + ' ' + std::to_string(mine) + ", the source says " + std::to_string(theirs);
}

const char* name_of(BlockState state) {
  switch (state) {
    case BlockState::inactive:
      return "inactive";
    case BlockState::allocated:
      return "allocated";
    case BlockState::pending_free:
      return "pending";
  }
  return "";
}

void compare(const Block& mine, const Block& theirs, std::vector<Mismatch>& out) {
  if (mine.size != theirs.size) out.push_back({mine.address, difference("block size", mine.size, theirs.size)});
  if (mine.state != theirs.state) {
    out.push_back(
        {mine.address, std::string("block ") + name_of(mine.state) + ", the source says " + name_of(theirs.state)});
  }
}

void compare(const Segment& mine, const Segment& theirs, std::vector<Mismatch>& out) {
  if (mine.bytes != theirs.bytes) out.push_back({mine.address, difference("segment size", mine.bytes, theirs.bytes)});
}

// Walks two lists in address order and compares what is in both.
template <class T>
void compare_lists(std::vector<T> mine, std::vector<T> theirs, const char* what, std::vector<Mismatch>& out) {
  std::ranges::stable_sort(mine, {}, &T::address);
  std::ranges::stable_sort(theirs, {}, &T::address);
  auto a = mine.begin();
  for (auto b = theirs.begin(); a != mine.end() || b != theirs.end();) {
    if (b == theirs.end() || (a != mine.end() && a->address < b->address)) {
      out.push_back({(a++)->address, std::string(what) + " that the source does not have"});
    } else if (a == mine.end() || b->address < a->address) {
      out.push_back({(b++)->address, std::string(what) + " that only the source has"});
    } else {
      compare(*a++, *b++, out);
    }
  }
}

// Both lists name a block once; the state's is sorted by address.
void apply(const std::vector<SizeCorrection>& corrections, InitialState& state) {
  for (const SizeCorrection& correction : corrections) {
    const auto block = std::ranges::lower_bound(state.blocks, correction.address, {}, &InitialBlock::address);
    if (block == state.blocks.end() || block->address != correction.address) continue;
    block->size = correction.size;
    block->assumed = false;
  }
}

}  // namespace

std::vector<LiveBlock> BlockReplay::live_blocks() const {
  std::vector<LiveBlock> result;
  std::vector<bool> unused(nodes_.size());
  for (const NodeId id : unused_) unused[id] = true;
  for (std::size_t id = 0; id < nodes_.size(); ++id) {
    if (unused[id]) continue;
    if (const auto block = live_at(nodes_[id].address)) result.push_back(*block);
  }
  std::ranges::sort(result, {}, &LiveBlock::address);
  return result;
}

void BlockReplay::final_state(std::vector<Segment>& segments, std::vector<Block>& blocks) const {
  for (const auto& [address, held] : held_) {
    Segment segment{address, held.bytes, 0, held.small, held.expandable, blocks.size(), 0};
    for (NodeId id = held.first; id != none; id = nodes_[id].next) {
      const Node& node = nodes_[id];
      blocks.push_back({node.address, node.size, node.requested, node.state, no_stack});
    }
    segment.block_count = blocks.size() - segment.first_block;
    segments.push_back(segment);
  }
}

InitialState settled_initial_state(const Timeline& timeline) {
  InitialState state = rewind(timeline);
  for (int round = 0; round < max_settling_rounds; ++round) {
    if (std::ranges::none_of(state.blocks, &InitialBlock::assumed)) break;
    BlockReplay replay(timeline, state);
    replay.advance_to(timeline.events.count());
    if (replay.corrections().empty()) break;
    apply(replay.corrections(), state);
  }
  return state;
}

std::vector<Mismatch> compare_with_source(BlockReplay& replay, const Timeline& timeline) {
  replay.advance_to(timeline.events.count());
  std::vector<Segment> segments;
  std::vector<Block> blocks;
  replay.final_state(segments, blocks);
  std::vector<Mismatch> result;
  compare_lists(std::move(segments), timeline.segments, "a segment", result);
  compare_lists(std::move(blocks), timeline.blocks, "a block", result);
  return result;
}

}  // namespace ullage::timeline
