// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/cupti/timeline.hpp"

#include <algorithm>

namespace ullage::vgpu::cupti {
namespace {

template <class Map, class Key>
std::uint64_t value_or_zero(const Map& map, Key key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

}  // namespace

Timeline::Span Timeline::submit(std::uint64_t duration, StreamId stream, std::uint64_t now) {
  const std::uint64_t start = std::max(now, end_of_stream(stream));
  const Span span{start, start + duration};
  tails_[stream] = span.end;
  end_ = std::max(end_, span.end);
  return span;
}

std::uint64_t Timeline::record(EventId event, StreamId stream, std::uint64_t now) {
  return events_[event] = std::max(now, end_of_stream(stream));
}

void Timeline::wait(StreamId stream, EventId event) {
  std::uint64_t& tail = tails_[stream];
  tail = std::max(tail, end_of_event(event));
}

std::uint64_t Timeline::end_of_stream(StreamId stream) const {
  return value_or_zero(tails_, stream);
}

std::uint64_t Timeline::end_of_event(EventId event) const {
  return value_or_zero(events_, event);
}

}  // namespace ullage::vgpu::cupti
