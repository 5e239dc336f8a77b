// SPDX-License-Identifier: Apache-2.0
#include "ledger/totals_over_time.hpp"

#include <algorithm>

namespace ullage::ledger {

using timeline::Action;
using timeline::AllocationId;
using timeline::AllocationWalk;

TotalsOverTime::TotalsOverTime(const timeline::Timeline& timeline, const timeline::InitialState& initial,
                               const timeline::Allocations& allocations, const attribution::Labels& labels,
                               std::span<const std::uint64_t> reserved)
    : allocations_(allocations),
      labels_(labels),
      reserved_(reserved),
      replay_(timeline, initial),
      walk_(timeline, allocations) {
  begin(timeline.events);
  now_.reserved = reserved_.empty() ? replay_.now().reserved : reserved_.front();
}

// A block whose free was requested before the first event has 0 as its end, like one that event 0 ends.
void TotalsOverTime::begin(const timeline::Events& events) {
  const bool frees =
      events.count() > 0 && (events.action[0] == Action::free_requested || events.action[0] == Action::free_completed);
  for (AllocationId id = 0; id < allocations_.before_trace; ++id) {
    const bool ended = allocations_.freed[id] == 0 && !(frees && events.address[0] == allocations_.address[id]);
    if (!ended) add(id);
  }
}

std::uint64_t TotalsOverTime::owned(AllocationId id) const {
  return std::min(allocations_.requested[id], allocations_.size[id]);
}

void TotalsOverTime::add(AllocationId id) {
  now_.allocated += allocations_.size[id];
  now_.rounding += allocations_.size[id] - owned(id);
  now_.of[static_cast<std::size_t>(labels_.of[id].category)] += owned(id);
}

void TotalsOverTime::subtract(AllocationId id) {
  now_.allocated -= allocations_.size[id];
  now_.rounding -= allocations_.size[id] - owned(id);
  now_.of[static_cast<std::size_t>(labels_.of[id].category)] -= owned(id);
}

bool TotalsOverTime::step() {
  const std::size_t event = replay_.position();
  if (!replay_.step()) return false;
  const AllocationWalk::Step step = walk_.next();
  if (step.ended != AllocationWalk::none) subtract(step.ended);
  if (step.of != AllocationWalk::none && allocations_.born[step.of] == event) add(step.of);
  now_.reserved = reserved_.empty() ? replay_.now().reserved : reserved_[event];
  return true;
}

}  // namespace ullage::ledger
