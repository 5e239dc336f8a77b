// SPDX-License-Identifier: Apache-2.0
#include "ledger/segments.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "ledger/pools.hpp"
#include "ledger/texts.hpp"

namespace ullage::ledger {

namespace {

using timeline::AllocationId;
using timeline::BlockState;

// The owners of allocations, each text once.
class Owners {
 public:
  Owners(const Cut& cut, std::vector<BlockOwner>& owners) : cut_(cut), lines_(*cut.timeline), owners_(owners) {}

  std::size_t of(const timeline::LiveBlock& block) {
    const auto id = find_allocation(*cut_.allocations, block);
    const attribution::Label label = id ? cut_.labels->of[*id] : attribution::Label{};
    const timeline::StackId stack = id ? cut_.allocations->stack[*id] : timeline::no_stack;
    const auto [it, added] = by_label_.try_emplace(
        {label.category, label.kind, label.module, label.operation, label.name, stack}, owners_.size());
    if (added) it->second = with_texts(label, stack);
    return it->second;
  }

  /// The first owner with the same layers and line.
  [[nodiscard]] std::size_t group_of(std::size_t owner) const { return groups_[owner]; }

 private:
  using Key = std::tuple<attribution::Category, timeline::StringId, timeline::StringId, timeline::StringId,
                         timeline::StringId, timeline::StackId>;
  using Texts = std::tuple<attribution::Category, std::string, std::string>;

  std::size_t with_texts(const attribution::Label& label, timeline::StackId stack) {
    const BlockOwner owner{label.category, what(label, false), what(label, true), lines_.of(stack)};
    const auto [it, added] = by_text_.try_emplace({owner.category, owner.what, owner.line}, owners_.size());
    if (!added) return it->second;
    owners_.push_back(owner);
    groups_.push_back(by_layers_.try_emplace({owner.category, owner.layers, owner.line}, it->second).first->second);
    return it->second;
  }

  [[nodiscard]] std::string what(const attribution::Label& label, bool stars) const {
    const auto text = [&](timeline::StringId id) { return std::string(cut_.labels->strings.text(id)); };
    std::string result = text(label.name != 0 ? label.name : label.module);
    if (stars) result = layers_as_stars(result);
    const bool state = label.category == attribution::Category::optimizer_state;
    const std::string more = label.name == 0 && label.operation != 0 ? text(label.operation)
                             : state || result.empty()               ? text(label.kind)
                                                                     : "";
    return result + (result.empty() || more.empty() ? "" : ", ") + more;
  }

  const Cut& cut_;
  LineTexts lines_;
  std::vector<BlockOwner>& owners_;
  std::vector<std::size_t> groups_;
  std::map<Key, std::size_t> by_label_;
  std::map<Texts, std::size_t> by_text_, by_layers_;
};

// What the owners have in a segment of which half or more lies idle.
std::vector<Pin> pins_of(const OwnedSegment& segment, const Owners& owners) {
  std::vector<Pin> pins;
  if (segment.idle() < segment.bytes - segment.bytes / 2) return pins;
  std::map<std::size_t, std::uint64_t> bytes;
  for (const OwnedBlock& block : segment.blocks) {
    if (block.owner != no_owner) bytes[owners.group_of(block.owner)] += block.bytes;
  }
  for (const auto& [owner, sum] : bytes) pins.push_back({owner, sum});
  std::ranges::stable_sort(pins, std::ranges::greater(), &Pin::bytes);
  return pins;
}

void add_block(OwnedSegment& segment, const OwnedBlock& block) {
  if (block.state == BlockState::allocated) segment.allocated += block.bytes;
  if (block.state == BlockState::inactive) {
    segment.holes += block.bytes;
    segment.largest_hole = std::max(segment.largest_hole, block.bytes);
  }
  segment.blocks.push_back(block);
}

OwnedSegment owned_segment(const timeline::BlockReplay& replay, const timeline::Segment& held,
                           std::span<const timeline::Block> blocks, Owners& owners) {
  OwnedSegment segment;
  segment.address = held.address;
  segment.bytes = held.bytes;
  segment.expandable = held.expandable;
  segment.blocks.reserve(blocks.size());
  for (const timeline::Block& block : blocks) {
    const auto live = replay.live_at(block.address);
    const std::size_t owner = live ? owners.of(*live) : no_owner;
    add_block(segment, {block.address - held.address, block.size, block.requested, block.state, owner});
  }
  segment.pinned_by = pins_of(segment, owners);
  return segment;
}

std::vector<PinnedIdle> pinned_idle(const Segments& all) {
  std::map<std::size_t, PinnedIdle> by_owner;
  for (const OwnedSegment& segment : all.segments) {
    for (const Pin& pin : segment.pinned_by) {
      PinnedIdle& sum = by_owner[pin.owner];
      sum.pin = {pin.owner, sum.pin.bytes + pin.bytes};
      sum.idle += segment.idle();
      ++sum.segments;
    }
  }
  std::vector<PinnedIdle> result;
  for (const auto& [owner, sum] : by_owner) result.push_back(sum);
  std::ranges::stable_sort(result, [](const PinnedIdle& a, const PinnedIdle& b) {
    return std::pair(a.idle, a.pin.bytes) > std::pair(b.idle, b.pin.bytes);
  });
  return result;
}

void add_up(Segments& all) {
  for (const OwnedSegment& segment : all.segments) {
    all.reserved += segment.bytes;
    all.allocated += segment.allocated;
    all.holes += segment.holes;
    all.largest_hole = std::max(all.largest_hole, segment.largest_hole);
  }
}

std::optional<RefusedRequest> request_at(const Cut& cut, const Segments& all) {
  const timeline::Timeline& timeline = *cut.timeline;
  if (cut.events >= timeline.events.count() || timeline.events.action[cut.events] != timeline::Action::oom)
    return std::nullopt;
  const timeline::Event event = timeline.events.at(cut.events);
  RefusedRequest request{event.size, timeline.stream_number(event.stream), event.size <= timeline::small_bytes, 0, 0};
  for (const OwnedSegment& segment : all.segments) {
    if (segment.stream != request.stream || segment.small != request.small) continue;
    request.holes += segment.holes;
    request.largest_hole = std::max(request.largest_hole, segment.largest_hole);
  }
  return request;
}

}  // namespace

Segments segments_at(const Cut& cut, const timeline::InitialState& initial) {
  timeline::BlockReplay replay(*cut.timeline, initial);
  replay.advance_to(cut.events);
  std::vector<timeline::Segment> held;
  std::vector<timeline::Block> blocks;
  replay.final_state(held, blocks);
  Segments all;
  Owners owners(cut, all.owners);
  const Pools pools(*cut.timeline, cut.events);
  for (const timeline::Segment& segment : held) {
    const auto own = std::span(blocks).subspan(segment.first_block, segment.block_count);
    all.segments.push_back(owned_segment(replay, segment, own, owners));
    const Pool pool = pools.of(segment, own);
    all.segments.back().stream = pool.stream, all.segments.back().small = pool.small;
  }
  std::ranges::stable_sort(all.segments, [](const OwnedSegment& a, const OwnedSegment& b) {
    return std::pair(a.idle(), a.bytes) > std::pair(b.idle(), b.bytes);
  });
  add_up(all);
  all.outside = replay.now().allocated - all.allocated;
  all.pinned_by = pinned_idle(all);
  all.request = request_at(cut, all);
  assert(all.reserved == replay.now().reserved && check(all).empty());
  return all;
}

std::vector<std::string> check(const Segments& segments) {
  std::vector<std::string> wrong;
  std::uint64_t reserved = 0, allocated = 0, holes = 0;
  for (const OwnedSegment& segment : segments.segments) {
    std::uint64_t end = 0;
    for (const OwnedBlock& block : segment.blocks) {
      if (block.offset != end) wrong.push_back("a gap before offset " + std::to_string(block.offset));
      end = block.offset + block.bytes;
      allocated += block.state == BlockState::allocated ? block.bytes : 0;
      holes += block.state == BlockState::inactive ? block.bytes : 0;
    }
    reserved += end;
    if (end != segment.bytes)
      wrong.push_back("blocks end at " + std::to_string(end) + " of " + std::to_string(segment.bytes));
  }
  if (std::tuple(reserved, allocated, holes) != std::tuple(segments.reserved, segments.allocated, segments.holes))
    wrong.emplace_back("the segments do not add up");
  return wrong;
}

}  // namespace ullage::ledger
