// SPDX-License-Identifier: Apache-2.0
#include "ledger/pools.hpp"

#include <algorithm>

namespace ullage::ledger {

using timeline::Action;
using timeline::BlockState;

// What is nearest to the moment holds: the last event before it, else the first behind it, else the final state.
Pools::Pools(const timeline::Timeline& timeline, std::size_t events) : timeline_(timeline) {
  for (const timeline::Segment& segment : timeline.segments)
    by_address_[segment.address] = {timeline.stream_number(segment.stream), segment.small};
  for (std::size_t i = timeline.events.count(); i-- > events;) take(i);
  for (std::size_t i = 0; i < events; ++i) take(i);
}

void Pools::take(std::size_t event) {
  const Action action = timeline_.events.action[event];
  if (action >= Action::segment_alloc && action <= Action::segment_unmap)
    by_address_[timeline_.events.address[event]].stream = timeline_.stream_number(timeline_.events.stream[event]);
}

// A range of an expandable segment may hold several that were mapped, or begin where part of one was given back: the
// addresses around it are of the same pool and stream. Its blocks show the pool too: those of the large one are larger.
Pool Pools::of(const timeline::Segment& segment, std::span<const timeline::Block> blocks) const {
  auto at = by_address_.lower_bound(segment.address);
  if (at != by_address_.begin() && (at == by_address_.end() || at->first - segment.address >= segment.bytes)) --at;
  Pool pool = at != by_address_.end() ? at->second : Pool{};
  const auto live = std::ranges::find_if(blocks, [](const auto& b) { return b.state != BlockState::inactive; });
  if (live != blocks.end()) pool.small = live->size <= timeline::small_bytes;
  if (!segment.expandable) pool.small = segment.small;
  return pool;
}

}  // namespace ullage::ledger
