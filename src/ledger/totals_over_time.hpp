// SPDX-License-Identifier: Apache-2.0
// What was allocated after each event, by the owners of the chart of accounts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "attribution/labels.hpp"
#include "timeline/allocations.hpp"
#include "timeline/block_replay.hpp"

namespace ullage::ledger {

/// Bytes. Categories (in requested bytes, where they are known) and `rounding` add up to `allocated`.
struct Totals {
  std::uint64_t allocated = 0;
  std::uint64_t reserved = 0;
  std::uint64_t rounding = 0;  ///< block sizes less requested sizes
  std::array<std::uint64_t, attribution::categories> of{};
  friend bool operator==(const Totals&, const Totals&) = default;
};

/// A walk over the events; O(1) per event. Everything it is given must outlive it.
class TotalsOverTime {
 public:
  /// `reserved` has the source's own total after each event; where it is empty, the replay's counts.
  TotalsOverTime(const timeline::Timeline& timeline, const timeline::InitialState& initial,
                 const timeline::Allocations& allocations, const attribution::Labels& labels,
                 std::span<const std::uint64_t> reserved = {});

  /// Takes the next event; false at the end.
  bool step();
  [[nodiscard]] std::size_t position() const { return replay_.position(); }
  [[nodiscard]] const Totals& now() const { return now_; }

 private:
  void begin(const timeline::Events& events);
  void add(timeline::AllocationId id);
  void subtract(timeline::AllocationId id);
  [[nodiscard]] std::uint64_t owned(timeline::AllocationId id) const;

  const timeline::Allocations& allocations_;
  const attribution::Labels& labels_;
  std::span<const std::uint64_t> reserved_;
  timeline::BlockReplay replay_;
  timeline::AllocationWalk walk_;
  Totals now_;
};

}  // namespace ullage::ledger
