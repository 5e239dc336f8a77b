// SPDX-License-Identifier: Apache-2.0
// Where simulated work lies on the host's real clock. The virtual clock decides what is in memory and knows nothing of
// the real time; a trace shows host and device side by side, so here each piece of work starts when it is really
// submitted, or behind its stream, and lasts as long as the virtual clock says.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "virtual_gpu/device/ids.hpp"

namespace ullage::vgpu::cupti {

/// Times in nanoseconds. Not thread-safe; the recorder locks.
class Timeline {
 public:
  struct Span {
    std::uint64_t start = 0, end = 0;
  };

  Span submit(std::uint64_t duration, StreamId stream, std::uint64_t now);
  /// The time at which the event is reached.
  std::uint64_t record(EventId event, StreamId stream, std::uint64_t now);
  void wait(StreamId stream, EventId event);

  std::uint64_t end_of_stream(StreamId stream) const;
  std::uint64_t end_of_event(EventId event) const;  ///< 0 for one that was not recorded
  std::uint64_t end() const { return end_; }

 private:
  std::unordered_map<StreamId, std::uint64_t> tails_;
  std::unordered_map<EventId, std::uint64_t> events_;
  std::uint64_t end_ = 0;
};

}  // namespace ullage::vgpu::cupti
