// SPDX-License-Identifier: Apache-2.0
// Streams, events, graph capture and the deterministic virtual clock.
//
// The host has a time, each stream a tail: the time at which its last work ends. Work starts at max(tail, now); an
// event takes its stream's tail; a wait raises a tail; the host waits by jumping forward. Every call into the device
// costs the host a fixed time, so that a host that runs ahead of the device is seen to run ahead: memory used on a
// second stream is reused only when its event has passed.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>

#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

/// Not thread-safe; the machine locks.
class Streams {
 public:
  static constexpr std::uint64_t call_ns = 3000;  ///< host time of one call

  Streams();

  std::uint64_t now() const { return now_; }
  /// One call into the device passes.
  void advance() { now_ += call_ns; }

  /// Submits work of a duration. During a capture it is recorded instead and the interval is empty.
  Interval submit(std::uint64_t duration_ns, StreamId stream);
  bool capturing(StreamId stream) const;

  StreamId create(std::uint32_t flags, int priority);
  Status destroy(StreamId stream);
  Status properties(StreamId stream, std::uint32_t* flags, int* priority) const;
  Status query(StreamId stream) const;
  /// The host waits; `waited` gets the virtual time.
  Status synchronize(StreamId stream, std::uint64_t* waited);
  Status synchronize_device(std::uint64_t* waited);

  EventId create_event(std::uint32_t flags, EventId id);
  Status destroy_event(EventId event);
  Status record(EventId event, StreamId stream);
  Status wait(StreamId stream, EventId event);
  Status query_event(EventId event) const;
  Status synchronize_event(EventId event, std::uint64_t* waited);
  Status elapsed_ms(EventId start, EventId end, float* ms) const;

  /// Ids of captures and graphs are numbered from 1. `graph` 0 makes a new graph.
  Status begin_capture(StreamId stream, std::uint64_t graph);
  Status end_capture(StreamId stream, std::uint64_t* graph);
  CaptureState capture_state(StreamId stream, std::uint64_t* capture_id, std::uint64_t* graph) const;
  /// Duration and number of nodes of a graph; false when unknown.
  bool graph(std::uint64_t graph, std::uint64_t* duration_ns, std::uint64_t* nodes) const;

 private:
  struct Stream {
    std::uint32_t flags = 0;
    int priority = 0;
    std::uint64_t tail = 0;
    std::uint64_t capture = 0;  ///< id of the capture it takes part in
  };
  struct Event {
    std::uint32_t flags = 0;
    bool recorded = false;
    std::uint64_t time = 0;
    std::uint64_t capture = 0;  ///< the capture in which it was recorded
    StreamId stream = 0;
  };
  struct Capture {
    StreamId origin = 0;
    std::uint64_t graph = 0;
    bool invalidated = false;
    std::set<StreamId> unjoined;  ///< forked streams whose work the origin has not waited for
  };
  struct Graph {
    std::uint64_t duration_ns = 0;
    std::uint64_t nodes = 0;
  };

  Status wait_until(std::uint64_t time, std::uint64_t* waited);
  Status join_capture(Stream& stream, StreamId id, const Event& event);

  std::uint64_t now_ = 0;
  StreamId next_stream_ = 1;
  std::uint64_t next_capture_ = 1;
  std::uint64_t next_graph_ = 1;
  std::unordered_map<StreamId, Stream> streams_;
  std::unordered_map<EventId, Event> events_;
  std::unordered_map<std::uint64_t, Capture> captures_;
  std::unordered_map<std::uint64_t, Graph> graphs_;
};

}  // namespace ullage::vgpu
