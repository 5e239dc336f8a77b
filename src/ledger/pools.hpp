// SPDX-License-Identifier: Apache-2.0
// Which stream and pool the segments of a moment belong to. A replay keeps neither; the events and the source's final
// segments state them.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "timeline/timeline.hpp"

namespace ullage::ledger {

struct Pool {
  std::uint64_t stream = 0;  ///< the source's own number
  bool small = false;
};

class Pools {
 public:
  /// Of the moment after `events` events. The timeline must outlive it.
  Pools(const timeline::Timeline& timeline, std::size_t events);
  /// Of a segment of that moment with its blocks.
  [[nodiscard]] Pool of(const timeline::Segment& segment, std::span<const timeline::Block> blocks) const;

 private:
  void take(std::size_t event);
  const timeline::Timeline& timeline_;
  std::map<std::uint64_t, Pool> by_address_;  ///< where a segment or a mapped range begins
};

}  // namespace ullage::ledger
