// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/streams.hpp"

#include <algorithm>

namespace ullage::vgpu {

Streams::Streams() {
  streams_.emplace(0, Stream{});
}

bool Streams::capturing(StreamId stream) const {
  auto it = streams_.find(stream);
  return it != streams_.end() && it->second.capture != 0;
}

Interval Streams::submit(std::uint64_t duration_ns, StreamId stream) {
  auto it = streams_.find(stream);
  if (it == streams_.end()) return {now_, now_};
  if (it->second.capture != 0) {
    Capture& capture = captures_[it->second.capture];
    Graph& graph = graphs_[capture.graph];
    graph.duration_ns += duration_ns;
    ++graph.nodes;
    if (stream != capture.origin) capture.unjoined.insert(stream);
    return {now_, now_};
  }
  const std::uint64_t start = std::max(it->second.tail, now_);
  it->second.tail = start + duration_ns;
  return {start, it->second.tail};
}

StreamId Streams::create(std::uint32_t flags, int priority) {
  const StreamId id = next_stream_++;
  streams_.emplace(id, Stream{flags, priority, 0, 0});
  return id;
}

Status Streams::destroy(StreamId stream) {
  if (stream == 0) return Status::invalid_handle;
  return streams_.erase(stream) == 1 ? Status::ok : Status::invalid_handle;
}

Status Streams::properties(StreamId stream, std::uint32_t* flags, int* priority) const {
  auto it = streams_.find(stream);
  if (it == streams_.end()) return Status::invalid_handle;
  if (flags) *flags = it->second.flags;
  if (priority) *priority = it->second.priority;
  return Status::ok;
}

Status Streams::query(StreamId stream) const {
  auto it = streams_.find(stream);
  if (it == streams_.end()) return Status::invalid_handle;
  if (it->second.capture != 0) return Status::not_permitted;
  return it->second.tail > now_ ? Status::not_ready : Status::ok;
}

Status Streams::wait_until(std::uint64_t time, std::uint64_t* waited) {
  const std::uint64_t wait = time > now_ ? time - now_ : 0;
  now_ += wait;
  if (waited) *waited = wait;
  return Status::ok;
}

Status Streams::synchronize(StreamId stream, std::uint64_t* waited) {
  auto it = streams_.find(stream);
  if (it == streams_.end()) return Status::invalid_handle;
  if (it->second.capture != 0) {
    captures_[it->second.capture].invalidated = true;
    return Status::not_permitted;
  }
  return wait_until(it->second.tail, waited);
}

Status Streams::synchronize_device(std::uint64_t* waited) {
  std::uint64_t last = 0;
  for (const auto& [id, stream] : streams_) {
    if (stream.capture != 0) {
      captures_[stream.capture].invalidated = true;
      return Status::not_permitted;
    }
    last = std::max(last, stream.tail);
  }
  return wait_until(last, waited);
}

EventId Streams::create_event(std::uint32_t flags, EventId id) {
  events_.emplace(id, Event{flags, false, 0, 0, 0});
  return id;
}

Status Streams::destroy_event(EventId event) {
  return events_.erase(event) == 1 ? Status::ok : Status::invalid_handle;
}

Status Streams::record(EventId event, StreamId stream) {
  auto e = events_.find(event);
  auto s = streams_.find(stream);
  if (e == events_.end() || s == streams_.end()) return Status::invalid_handle;
  e->second.recorded = true;
  e->second.capture = s->second.capture;
  e->second.stream = stream;
  e->second.time = std::max(s->second.tail, now_);
  return Status::ok;
}

Status Streams::join_capture(Stream& stream, StreamId id, const Event& event) {
  auto it = captures_.find(event.capture);
  if (it == captures_.end()) return Status::not_permitted;
  if (id == it->second.origin)
    it->second.unjoined.erase(event.stream);
  else if (stream.capture == 0)
    it->second.unjoined.insert(id);
  stream.capture = event.capture;
  return Status::ok;
}

Status Streams::wait(StreamId stream, EventId event) {
  auto e = events_.find(event);
  auto s = streams_.find(stream);
  if (e == events_.end() || s == streams_.end()) return Status::invalid_handle;
  if (!e->second.recorded) return Status::ok;  // an event never recorded is no barrier
  if (e->second.capture != 0) return join_capture(s->second, stream, e->second);
  if (s->second.capture != 0) return Status::ok;
  s->second.tail = std::max(s->second.tail, e->second.time);
  return Status::ok;
}

Status Streams::query_event(EventId event) const {
  auto it = events_.find(event);
  if (it == events_.end()) return Status::invalid_handle;
  if (it->second.capture != 0) return Status::not_permitted;
  return it->second.recorded && it->second.time > now_ ? Status::not_ready : Status::ok;
}

Status Streams::synchronize_event(EventId event, std::uint64_t* waited) {
  auto it = events_.find(event);
  if (it == events_.end()) return Status::invalid_handle;
  if (it->second.capture != 0) return Status::not_permitted;
  return wait_until(it->second.recorded ? it->second.time : 0, waited);
}

Status Streams::elapsed_ms(EventId start, EventId end, float* ms) const {
  auto a = events_.find(start);
  auto b = events_.find(end);
  if (a == events_.end() || b == events_.end()) return Status::invalid_handle;
  if (!a->second.recorded || !b->second.recorded) return Status::invalid_handle;
  if (a->second.time > now_ || b->second.time > now_) return Status::not_ready;
  const auto difference = static_cast<double>(b->second.time) - static_cast<double>(a->second.time);
  *ms = static_cast<float>(difference * 1e-6);
  return Status::ok;
}

Status Streams::begin_capture(StreamId stream, std::uint64_t graph) {
  auto it = streams_.find(stream);
  if (it == streams_.end()) return Status::invalid_handle;
  if (stream == 0) return Status::capture_implicit;
  if (it->second.capture != 0) return Status::not_permitted;
  const std::uint64_t id = next_capture_++;
  if (graph == 0) graph = next_graph_++;
  graphs_.try_emplace(graph);
  captures_.emplace(id, Capture{stream, graph, false, {}});
  it->second.capture = id;
  return Status::ok;
}

Status Streams::end_capture(StreamId stream, std::uint64_t* graph) {
  *graph = 0;
  auto it = streams_.find(stream);
  if (it == streams_.end() || it->second.capture == 0) return Status::invalid_handle;
  auto capture = captures_.find(it->second.capture);
  if (capture->second.origin != stream) return Status::not_permitted;
  for (auto& [id, other] : streams_)
    if (other.capture == capture->first) other.capture = 0;
  const Capture ended = capture->second;
  captures_.erase(capture);
  if (ended.invalidated) return Status::not_permitted;
  if (!ended.unjoined.empty()) return Status::capture_unjoined;
  *graph = ended.graph;
  return Status::ok;
}

CaptureState Streams::capture_state(StreamId stream, std::uint64_t* capture_id, std::uint64_t* graph) const {
  auto it = streams_.find(stream);
  if (it == streams_.end() || it->second.capture == 0) return CaptureState::none;
  const Capture& capture = captures_.at(it->second.capture);
  if (capture_id) *capture_id = it->second.capture;
  if (graph) *graph = capture.graph;
  return capture.invalidated ? CaptureState::invalidated : CaptureState::active;
}

bool Streams::graph(std::uint64_t graph, std::uint64_t* duration_ns, std::uint64_t* nodes) const {
  auto it = graphs_.find(graph);
  if (it == graphs_.end()) return false;
  if (duration_ns) *duration_ns = it->second.duration_ns;
  if (nodes) *nodes = it->second.nodes;
  return true;
}

}  // namespace ullage::vgpu
