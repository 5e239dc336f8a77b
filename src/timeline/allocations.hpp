// SPDX-License-Identifier: Apache-2.0
// Every allocation of a Timeline with its whole life: when it was born, how large its block was, when it died.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "timeline/block_replay.hpp"

namespace ullage::timeline {

using AllocationId = std::uint32_t;

/// As columns: first the blocks that are older than the trace, by address, then one row per alloc event, in order.
/// Moments are counted in events: a cut at n stands after n events.
struct Allocations {
  static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

  std::vector<std::uint64_t> address;
  std::vector<std::uint64_t> requested;  ///< bytes asked for
  std::vector<std::uint64_t> size;       ///< bytes of the block
  std::vector<std::uint32_t> born;       ///< index of the alloc event; LiveBlock::before_trace when older
  std::vector<std::uint32_t> freed;      ///< index of the event that asked for the free; `never`
  std::vector<std::uint32_t> completed;  ///< index of the event that completed it; `never`
  std::vector<std::uint32_t> stream;     ///< index into Timeline::streams
  std::vector<StackId> stack;
  std::size_t before_trace = 0;  ///< how many rows are older than the trace

  [[nodiscard]] std::size_t count() const { return address.size(); }
  [[nodiscard]] bool older(AllocationId id) const { return id < before_trace; }
  /// Counted as allocated after `cut` events.
  [[nodiscard]] bool live_at(AllocationId id, std::size_t cut) const {
    return (older(id) || born[id] < cut) && (freed[id] == never || freed[id] >= cut);
  }
};

/// One replay. O(events).
Allocations allocations(const Timeline& timeline, const InitialState& initial);

/// The row of a block of the replay that these allocations were made with; nothing where a contradictory source has
/// none. O(log n).
std::optional<AllocationId> find_allocation(const Allocations& allocations, const LiveBlock& block);

/// Tells event by event which allocation it is of. One pass, O(1) per event; memory is proportional to what lives at
/// the same time.
class AllocationWalk {
 public:
  static constexpr AllocationId none = AddressMap::none;
  struct Step {
    AllocationId of = none;     ///< that an alloc makes, or that a free is of; `none` for other events
    AllocationId ended = none;  ///< counts as allocated no longer after this event
  };
  AllocationWalk(const Timeline& timeline, const Allocations& allocations);
  /// Of the next event; to be called once for each.
  Step next();

 private:
  [[nodiscard]] AllocationId ended_at(std::uint64_t address) const;
  const Events& events_;
  const Allocations& allocations_;
  AddressMap current_;
  AllocationId born_;
  std::uint32_t event_ = 0;
};

/// Finds the allocation that lived at an address at a cut.
class AllocationIndex {
 public:
  explicit AllocationIndex(const Allocations& allocations);
  /// Nothing when no live allocation begins there.
  [[nodiscard]] std::optional<AllocationId> at(std::uint64_t address, std::size_t cut) const;

 private:
  const Allocations& allocations_;
  std::vector<AllocationId> by_address_;  ///< sorted by address, then birth
};

}  // namespace ullage::timeline
