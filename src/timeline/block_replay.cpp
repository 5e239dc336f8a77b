// SPDX-License-Identifier: Apache-2.0
#include "timeline/block_replay.hpp"

#include <algorithm>

namespace ullage::timeline {

namespace {

bool sane(std::uint64_t address, std::uint64_t bytes) {
  return bytes <= max_request_bytes && address <= ~std::uint64_t{0} - bytes;
}

}  // namespace

BlockReplay::BlockReplay(const Timeline& timeline, const InitialState& initial)
    : timeline_(timeline), frees_are_requested_(initial.frees_are_requested) {
  for (const Range& range : initial.ranges) add_range(range);
  for (const InitialBlock& block : initial.blocks) place_initial(block);
  evidence_.bad_segments += initial.inconsistent;
}

bool BlockReplay::step() {
  if (position_ >= timeline_.events.count()) return false;
  const std::uint64_t address = timeline_.events.address[position_];
  const std::uint64_t size = timeline_.events.size[position_];
  switch (timeline_.events.action[position_]) {
    case Action::alloc:
      on_alloc(address, size);
      break;
    case Action::free_requested:
      on_free(address, false);
      break;
    case Action::free_completed:
      on_free(address, true);
      break;
    case Action::segment_alloc:
      on_segment_alloc(address, size, false);
      break;
    case Action::segment_map:
      on_segment_alloc(address, size, true);
      break;
    case Action::segment_free:
      on_segment_free(address);
      break;
    case Action::segment_unmap:
      on_unmap(address, size);
      break;
    default:
      break;
  }
  ++position_;
  return true;
}

void BlockReplay::advance_to(std::size_t position) {
  while (position_ < position && step()) {
  }
}

// --- nodes ---

BlockReplay::NodeId BlockReplay::new_node(const Node& node) {
  NodeId id;
  if (unused_.empty()) {
    id = static_cast<NodeId>(nodes_.size());
    nodes_.push_back(node);
  } else {
    id = unused_.back();
    unused_.pop_back();
    nodes_[id] = node;
  }
  by_address_.set(node.address, id);
  return id;
}

void BlockReplay::drop_node(NodeId id) {
  by_address_.erase(nodes_[id].address);
  unused_.push_back(id);
}

// Cuts a node in two; the back is a new inactive node. Returns the back.
BlockReplay::NodeId BlockReplay::split(NodeId id, std::uint64_t front_size) {
  const Node whole = nodes_[id];
  Node rest;
  rest.address = whole.address + front_size;
  rest.size = whole.size - front_size;
  rest.prev = id;
  rest.next = whole.next;
  rest.small = whole.small;
  rest.expandable = whole.expandable;
  const NodeId back = new_node(rest);
  nodes_[id].size = front_size;
  nodes_[id].next = back;
  if (whole.next != none) {
    nodes_[whole.next].prev = back;
  } else {
    held_of(whole.address)->second.last = back;
  }
  return back;
}

// Joins two inactive neighbours; returns the front.
BlockReplay::NodeId BlockReplay::merge(NodeId front, NodeId back) {
  const NodeId after = nodes_[back].next;
  nodes_[front].size += nodes_[back].size;
  nodes_[front].next = after;
  if (after != none) {
    nodes_[after].prev = front;
  } else {
    held_of(nodes_[front].address)->second.last = front;
  }
  drop_node(back);
  return front;
}

// --- blocks ---

void BlockReplay::occupy(NodeId id, std::uint64_t requested, std::uint32_t born) {
  Node& node = nodes_[id];
  node.state = BlockState::allocated;
  node.requested = requested;
  node.born = born;
  now_.allocated += node.size;
  now_.active += node.size;
  now_.requested += requested;
}

// Cuts an inactive node down to `size` when the rules split it.
void BlockReplay::take(NodeId id, std::uint64_t size) {
  const Node& node = nodes_[id];
  const std::uint64_t remainder = node.size - size;
  const bool expandable = node.expandable || timeline_.settings.expandable_segments;
  if (should_split(size, remainder, node.small, expandable, timeline_.settings)) split(id, size);
}

void BlockReplay::place_initial(const InitialBlock& block) {
  if (!sane(block.address, block.size) || block.size == 0) {
    ++evidence_.misplaced;
    return;
  }
  NodeId id = by_address_.find(block.address);
  if (id == none) id = carve(block.address, block.size);
  if (id == none) return occupy_unplaced(block.address, block.requested, block.size, LiveBlock::before_trace);
  if (nodes_[id].state != BlockState::inactive || nodes_[id].size < block.size) {
    ++evidence_.misplaced;
    return;
  }
  if (nodes_[id].size > block.size) split(id, block.size);
  occupy(id, block.requested, LiveBlock::before_trace);
  nodes_[id].assumed = block.assumed;
  evidence_.assumed_sizes += block.assumed;
  if (block.pending) {
    nodes_[id].state = BlockState::pending_free;
    now_.allocated -= block.size;
  }
}

void BlockReplay::on_alloc(std::uint64_t address, std::uint64_t requested) {
  if (!sane(address, requested) || !sane(address, round_size(requested, timeline_.settings))) {
    ++evidence_.misplaced;
    return;
  }
  const std::uint64_t rounded = round_size(requested, timeline_.settings);
  NodeId id = by_address_.find(address);
  if (id != none && nodes_[id].state != BlockState::inactive) {  // its free is missing
    ++evidence_.misplaced;
    on_free(address, true);
    id = by_address_.find(address);
  }
  if (id == none) {
    id = carve(address, rounded);
    if (id == none) return occupy_unplaced(address, requested, rounded, static_cast<std::uint32_t>(position_));
  }
  if (nodes_[id].state != BlockState::inactive) {
    ++evidence_.misplaced;
    return;
  }
  if (nodes_[id].size < rounded) {
    ++evidence_.misplaced;
  } else {
    take(id, rounded);
  }
  occupy(id, requested, static_cast<std::uint32_t>(position_));
}

void BlockReplay::occupy_unplaced(std::uint64_t address, std::uint64_t requested, std::uint64_t size,
                                  std::uint32_t born) {
  ++evidence_.unplaced;
  if (by_address_.find(address) != none) return;
  Node node;
  node.address = address;
  node.size = size;
  node.placed = false;
  occupy(new_node(node), requested, born);
}

// An address inside a range where no block starts: cuts the block there so that one does. `none` outside all ranges.
BlockReplay::NodeId BlockReplay::carve(std::uint64_t address, std::uint64_t rounded) {
  NodeId id = containing(address);
  if (id == none) return none;
  if (correct_assumed(id, address)) return by_address_.find(address);
  if (position_ > 0 || nodes_[id].state != BlockState::inactive) ++evidence_.misplaced;
  if (nodes_[id].state != BlockState::inactive) return id;
  const std::uint64_t front = address - nodes_[id].address;
  if (nodes_[id].size - front < std::min<std::uint64_t>(rounded, min_block_bytes)) return id;
  return split(id, front);
}

// Blocks are handed out at the front of a free block. So when an allocation begins inside or shortly behind a block
// whose size was assumed, that block ends where the allocation begins.
bool BlockReplay::correct_assumed(NodeId id, std::uint64_t end) {
  if (nodes_[id].state == BlockState::inactive) id = nodes_[id].prev;
  if (id == none || !nodes_[id].assumed || nodes_[id].state == BlockState::inactive) return false;
  const std::uint64_t size = end - nodes_[id].address;
  const std::uint64_t rounded = round_size(nodes_[id].requested, timeline_.settings);
  if (size < rounded || (size > rounded && should_split(rounded, size - rounded, false, false, timeline_.settings))) {
    return false;
  }
  corrections_.push_back({nodes_[id].address, size});
  resize_assumed(id, size);
  return true;
}

void BlockReplay::resize_assumed(NodeId id, std::uint64_t size) {
  const std::uint64_t before = nodes_[id].size;
  nodes_[id].assumed = false;
  if (size > before) {
    const NodeId rest = nodes_[id].next;
    split(rest, size - before);
    merge(id, rest);
  } else {
    const NodeId back = split(id, size);
    const NodeId next = nodes_[back].next;
    if (next != none && nodes_[next].state == BlockState::inactive) merge(back, next);
  }
  now_.active += size - before;
  if (nodes_[id].state == BlockState::allocated) now_.allocated += size - before;
}

void BlockReplay::on_free(std::uint64_t address, bool completed) {
  const NodeId id = by_address_.find(address);
  if (id == none || nodes_[id].state == BlockState::inactive) {
    ++evidence_.unknown_frees;
    return;
  }
  Node& node = nodes_[id];
  if (node.state == BlockState::allocated) {
    node.state = BlockState::pending_free;
    now_.allocated -= node.size;
  }
  if (completed) release(id);
}

void BlockReplay::release(NodeId id) {
  Node& node = nodes_[id];
  now_.active -= node.size;
  now_.requested -= node.requested;
  node.state = BlockState::inactive;
  node.requested = 0;
  node.assumed = false;
  if (!node.placed) return drop_node(id);
  const NodeId next = node.next;
  if (next != none && nodes_[next].state == BlockState::inactive) merge(id, next);
  const NodeId prev = nodes_[id].prev;
  if (prev != none && nodes_[prev].state == BlockState::inactive) merge(prev, id);
}

// --- ranges ---

BlockReplay::HeldMap::const_iterator BlockReplay::held_of(std::uint64_t address) const {
  auto it = held_.upper_bound(address);
  if (it == held_.begin()) return held_.end();
  --it;
  return address - it->first < it->second.bytes ? it : held_.end();
}

BlockReplay::HeldMap::iterator BlockReplay::held_of(std::uint64_t address) {
  auto it = held_.upper_bound(address);
  if (it == held_.begin()) return held_.end();
  --it;
  return address - it->first < it->second.bytes ? it : held_.end();
}

bool BlockReplay::overlaps(std::uint64_t address, std::uint64_t bytes) const {
  if (held_of(address) != held_.end()) return true;
  const auto after = held_.lower_bound(address);
  return after != held_.end() && after->first - address < bytes;
}

// Searched from both ends: initial blocks come in the order of their addresses, each behind all those before it.
BlockReplay::NodeId BlockReplay::containing(std::uint64_t address) const {
  const auto held = held_of(address);
  if (held == held_.end()) return none;
  const auto within = [&](NodeId id) { return address - nodes_[id].address < nodes_[id].size; };
  NodeId front = held->second.first, back = held->second.last;
  for (; !within(front); front = nodes_[front].next, back = nodes_[back].prev) {
    if (within(back)) return back;
  }
  return front;
}

void BlockReplay::add_range(const Range& range) {
  if (const NodeId stray = by_address_.find(range.address); stray != none) on_free(range.address, true);
  Node node;
  node.address = range.address;
  node.size = range.bytes;
  node.small = range.small;
  node.expandable = range.expandable;
  const NodeId id = new_node(node);
  held_.emplace(range.address, Held{range.bytes, id, id, range.small, range.expandable});
  now_.reserved += range.bytes;
}

void BlockReplay::on_segment_alloc(std::uint64_t address, std::uint64_t bytes, bool expandable) {
  if (bytes == 0 || !sane(address, bytes) || overlaps(address, bytes)) {
    ++evidence_.bad_segments;
    return;
  }
  add_range({address, bytes, !expandable && bytes == small_segment_bytes, expandable});
  if (!expandable) return;
  join_ranges(address + bytes);
  join_ranges(address);
}

// Joins the expandable range that begins at `address` to the one that ends there.
void BlockReplay::join_ranges(std::uint64_t address) {
  const auto back = held_.find(address);
  if (back == held_.end() || back == held_.begin() || !back->second.expandable) return;
  const auto front = std::prev(back);
  if (!front->second.expandable || front->first + front->second.bytes != address) return;
  const NodeId left = front->second.last, right = back->second.first;
  nodes_[left].next = right;
  nodes_[right].prev = left;
  front->second.bytes += back->second.bytes;
  front->second.last = back->second.last;
  held_.erase(back);
  if (nodes_[left].state == BlockState::inactive && nodes_[right].state == BlockState::inactive) merge(left, right);
}

void BlockReplay::on_segment_free(std::uint64_t address) {
  const auto held = held_.find(address);
  if (held == held_.end()) {
    ++evidence_.bad_segments;
    return;
  }
  if (held->second.first != held->second.last) ++evidence_.bad_segments;
  for (NodeId id = held->second.first; id != none;) {
    const Node node = nodes_[id];
    if (node.state == BlockState::allocated) now_.allocated -= node.size;
    if (node.state != BlockState::inactive) {
      now_.active -= node.size;
      now_.requested -= node.requested;
    }
    drop_node(id);
    id = node.next;
  }
  now_.reserved -= held->second.bytes;
  held_.erase(held);
}

void BlockReplay::on_unmap(std::uint64_t address, std::uint64_t bytes) {
  NodeId id = by_address_.find(address);
  if (id == none && sane(address, bytes)) id = containing(address);
  const bool fits = id != none && bytes > 0 && sane(address, bytes) && nodes_[id].placed && nodes_[id].expandable &&
                    nodes_[id].state == BlockState::inactive && address + bytes <= nodes_[id].address + nodes_[id].size;
  if (!fits) {
    ++evidence_.bad_segments;
    return;
  }
  if (nodes_[id].address < address) id = split(id, address - nodes_[id].address);
  if (nodes_[id].size > bytes) split(id, bytes);
  cut_range(held_of(address), id);
}

// Takes the inactive node `hole` out of its range, which may leave one in front and one behind.
void BlockReplay::cut_range(HeldMap::iterator held, NodeId hole) {
  const Node node = nodes_[hole];
  const Held whole = held->second;
  const std::uint64_t start = held->first;
  const std::uint64_t end = node.address + node.size;
  held_.erase(held);
  if (node.prev != none) {
    nodes_[node.prev].next = none;
    held_.emplace(start, Held{node.address - start, whole.first, node.prev, whole.small, true});
  }
  if (node.next != none) {
    nodes_[node.next].prev = none;
    held_.emplace(end, Held{start + whole.bytes - end, node.next, whole.last, whole.small, true});
  }
  drop_node(hole);
  now_.reserved -= node.size;
}

// --- results ---

std::optional<LiveBlock> BlockReplay::live_at(std::uint64_t address) const {
  const NodeId id = by_address_.find(address);
  if (id == none || nodes_[id].state == BlockState::inactive) return std::nullopt;
  const Node& node = nodes_[id];
  return LiveBlock{node.address, node.size, node.requested, node.born, node.state == BlockState::pending_free};
}

}  // namespace ullage::timeline
