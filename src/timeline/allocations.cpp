// SPDX-License-Identifier: Apache-2.0
#include "timeline/allocations.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

namespace ullage::timeline {

namespace {

class Collector {
 public:
  Collector(const Timeline& timeline, const InitialState& initial) : timeline_(timeline), replay_(timeline, initial) {
    for (const InitialBlock& block : initial.blocks) {
      add({block.address, block.size, block.requested, LiveBlock::before_trace, block.pending}, 0, no_stack);
      if (block.pending) out_.freed.back() = 0;
    }
    out_.before_trace = out_.count();
  }

  Allocations run() {
    while (replay_.step()) take(replay_.position() - 1);
    take_final_stacks();
    return std::move(out_);
  }

 private:
  void add(const LiveBlock& block, std::uint32_t stream, StackId stack) {
    current_.set(block.address, static_cast<AllocationId>(out_.count()));
    out_.address.push_back(block.address);
    out_.requested.push_back(block.requested);
    out_.size.push_back(block.size);
    out_.born.push_back(block.born);
    out_.freed.push_back(Allocations::never);
    out_.completed.push_back(Allocations::never);
    out_.stream.push_back(stream);
    out_.stack.push_back(stack);
  }

  void take(std::size_t event) {
    const Event e = timeline_.events.at(event);
    const auto index = static_cast<std::uint32_t>(event);
    if (e.action == Action::alloc) {
      end(e.address, index, true);  // the source lost its free
      const auto block = replay_.live_at(e.address);
      add(block ? *block : LiveBlock{e.address, e.size, e.size, index, false}, e.stream, e.stack);
    } else if (e.action == Action::free_requested || e.action == Action::free_completed) {
      end(e.address, index, e.action == Action::free_completed);
    }
  }

  void end(std::uint64_t address, std::uint32_t event, bool completed) {
    const AllocationId id = current_.find(address);
    if (id == AddressMap::none) return;
    if (out_.freed[id] == Allocations::never) out_.freed[id] = event;
    if (!completed) return;
    out_.completed[id] = event;
    current_.erase(address);
  }

  // Blocks older than the trace have the stack that the final state states, when they are still there.
  void take_final_stacks() {
    for (const Block& block : timeline_.blocks) {
      const AllocationId id = current_.find(block.address);
      if (id != AddressMap::none && out_.older(id)) out_.stack[id] = block.stack;
    }
  }

  const Timeline& timeline_;
  BlockReplay replay_;
  AddressMap current_;
  Allocations out_;
};

template <class T>
std::optional<AllocationId> position_in(std::span<const T> sorted, T value, std::size_t first) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (at == sorted.end() || *at != value) return std::nullopt;
  return static_cast<AllocationId>(first + static_cast<std::size_t>(at - sorted.begin()));
}

}  // namespace

Allocations allocations(const Timeline& timeline, const InitialState& initial) {
  return Collector(timeline, initial).run();
}

std::optional<AllocationId> find_allocation(const Allocations& allocations, const LiveBlock& block) {
  const std::size_t older = allocations.before_trace;
  if (block.born == LiveBlock::before_trace)
    return position_in(std::span(allocations.address).first(older), block.address, 0);
  return position_in(std::span(allocations.born).subspan(older), block.born, older);
}

AllocationWalk::AllocationWalk(const Timeline& timeline, const Allocations& allocations)
    : events_(timeline.events), allocations_(allocations), born_(static_cast<AllocationId>(allocations.before_trace)) {
  for (AllocationId id = 0; id < born_; ++id) current_.set(allocations.address[id], id);
}

AllocationId AllocationWalk::ended_at(std::uint64_t address) const {
  const AllocationId id = current_.find(address);
  return id != none && allocations_.freed[id] == event_ ? id : none;
}

AllocationWalk::Step AllocationWalk::next() {
  const Action action = events_.action[event_];
  const std::uint64_t address = events_.address[event_];
  Step step;
  if (action == Action::alloc) {
    step = {born_++, ended_at(address)};
    current_.set(address, step.of);
  } else if (action == Action::free_requested || action == Action::free_completed) {
    step = {current_.find(address), ended_at(address)};
    if (action == Action::free_completed) current_.erase(address);
  }
  ++event_;
  return step;
}

AllocationIndex::AllocationIndex(const Allocations& allocations)
    : allocations_(allocations), by_address_(allocations.count()) {
  std::iota(by_address_.begin(), by_address_.end(), 0U);
  // Ids rise with birth, so that a stable sort keeps that order.
  std::ranges::stable_sort(by_address_, {}, [&](AllocationId id) { return allocations_.address[id]; });
}

std::optional<AllocationId> AllocationIndex::at(std::uint64_t address, std::size_t cut) const {
  // Not equal_range: its subrange is beyond clang 14 with libstdc++ 12.
  const auto address_of = [&](AllocationId id) { return allocations_.address[id]; };
  const auto first = std::ranges::lower_bound(by_address_, address, {}, address_of);
  const auto last = std::ranges::upper_bound(by_address_, address, {}, address_of);
  for (auto it = last; it != first;) {
    const AllocationId id = *--it;
    if (allocations_.live_at(id, cut)) return id;
    if (allocations_.older(id) || allocations_.born[id] < cut) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ullage::timeline
