// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/cupti/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu::cupti {
namespace {

/// The call of the API that this thread is in.
struct OpenCall {
  int depth = 0;
  ApiCall call;
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;
};

thread_local OpenCall open_call;
thread_local std::array<std::vector<std::uint64_t>, Recorder::external_kinds> external_ids;

std::uint64_t key_of(ApiCall call) {
  return std::uint64_t{call.driver} << 32 | call.number;
}

/// CUPTI numbers the default stream 7 and others behind it.
std::uint32_t shown_stream(StreamId stream) {
  return stream == 0 ? 7 : 12 + stream;
}

constexpr std::uint8_t pageable = 1, pinned = 2, device = 3;  // CUpti_ActivityMemoryKind

/// CUpti_ActivityMemcpyKind, and the kinds of memory at both ends.
void describe(const CopyActivity& copy, MemcpyRecord* record) {
  const std::uint8_t host = copy.pinned ? pinned : pageable;
  switch (copy.direction) {
    case ulog::Direction::host_to_device:
      record->copy_kind = 1, record->source_kind = host, record->destination_kind = device;
      break;
    case ulog::Direction::device_to_host:
      record->copy_kind = 2, record->source_kind = device, record->destination_kind = host;
      break;
    case ulog::Direction::device_to_device:
      record->copy_kind = 8, record->source_kind = record->destination_kind = device;
      break;
    case ulog::Direction::host_to_host:
      record->copy_kind = 9, record->source_kind = record->destination_kind = host;
      break;
  }
}

}  // namespace

Recorder& recorder() {
  static auto* made = new Recorder;
  return *made;
}

/// Opens a call for work that came without one: libraries launch their kernels themselves.
class Recorder::Call {
 public:
  Call(Recorder* recorder, ApiCall call) : recorder_(open_call.depth == 0 ? recorder : nullptr) {
    if (recorder_ != nullptr) recorder_->enter(call);
  }
  ~Call() {
    if (recorder_ != nullptr) recorder_->leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Recorder* recorder_;
};

// --- what the profiler sets ---

void Recorder::set_callbacks(RequestBuffer request, CompleteBuffer complete) {
  const Lock lock(mutex_);
  request_ = request;
  complete_ = complete;
  update_observer();
}

void Recorder::set_timestamp_callback(TimestampCallback callback) {
  const Lock lock(mutex_);
  clock_ = TickConverter(callback);
}

std::uint64_t Recorder::now_ticks() const {
  const Lock lock(mutex_);
  return clock_.now();
}

void Recorder::enable(std::uint32_t kind, bool on) {
  const Lock lock(mutex_);
  if (kind < kind_limit && record_bytes(kind) > 0) enabled_[kind] = on;
  update_observer();
}

void Recorder::enable_api(ApiCall call, bool on) {
  const Lock lock(mutex_);
  if (on)
    left_out_.erase(key_of(call));
  else
    left_out_.insert(key_of(call));
}

void Recorder::update_observer() {
  const bool active = enabled_.any() && request_ != nullptr && complete_ != nullptr;
  ullage_machine()->set_observer(active ? this : nullptr);
}

void Recorder::push_external(std::uint32_t kind, std::uint64_t id) {
  if (kind < external_kinds) external_ids[kind].push_back(id);
}

bool Recorder::pop_external(std::uint32_t kind, std::uint64_t* id) {
  if (kind >= external_kinds || external_ids[kind].empty()) return false;
  *id = external_ids[kind].back();
  external_ids[kind].pop_back();
  return true;
}

std::size_t Recorder::take_dropped() {
  const Lock lock(mutex_);
  return std::exchange(dropped_, 0);
}

// --- what the device tells ---

void Recorder::add(const Record& record) {
  if (outstanding_ == nullptr && request_ != nullptr) {
    std::size_t max_records = 0;
    request_(&outstanding_, &outstanding_bytes_, &max_records);
  }
  if (records_.size() < record_limit)
    records_.push_back(record);
  else
    ++dropped_;
}

void Recorder::add_externals(std::uint32_t correlation) {
  if (!wants(kind_external_correlation)) return;
  for (std::uint32_t kind = 0; kind < external_kinds; ++kind) {
    if (external_ids[kind].empty()) continue;
    ExternalRecord record;
    record.external_kind = kind;
    record.external_id = external_ids[kind].back();
    record.correlation_id = correlation;
    add(record);
  }
}

void Recorder::enter(ApiCall call) {
  if (open_call.depth++ > 0) return;
  const Lock lock(mutex_);
  open_call.call = call;
  open_call.correlation = next_correlation_++;
  open_call.start = steady_now();
  add_externals(open_call.correlation);
}

void Recorder::leave() {
  if (--open_call.depth > 0) return;
  const Lock lock(mutex_);
  const ApiCall call = open_call.call;
  const std::uint32_t kind = call.driver ? kind_driver : kind_runtime;
  if (!wants(kind) || left_out_.count(key_of(call)) > 0) return;
  ApiRecord record;
  record.kind = kind;
  record.number = call.number;
  record.start = open_call.start;
  record.end = std::max(steady_now(), open_call.start + 1);
  record.process_id = static_cast<std::uint32_t>(getpid());
  record.thread_id = static_cast<std::uint32_t>(pthread_self());
  record.correlation_id = open_call.correlation;
  add(record);
}

void Recorder::kernel(const KernelActivity& kernel, std::uint64_t duration_ns, StreamId stream) {
  const Call call(this, runtime_api::launch_kernel);
  const Lock lock(mutex_);
  const Timeline::Span span = timeline_.submit(duration_ns, stream, steady_now());
  if (!wants(kind_concurrent_kernel)) return;
  KernelRecord record;
  record.start = span.start;
  record.end = record.completed = span.end;
  record.stream_id = shown_stream(stream);
  for (int i = 0; i < 3; ++i) {
    record.grid[i] = static_cast<std::int32_t>(kernel.grid[i]);
    record.block[i] = static_cast<std::int32_t>(kernel.block[i]);
  }
  record.correlation_id = open_call.correlation;
  record.grid_id = next_grid_++;
  record.name = kernel.name;
  add(record);
}

void Recorder::copy(const CopyActivity& copy, std::uint64_t duration_ns, StreamId stream) {
  const Call call(this, runtime_api::memcpy_async);
  const Lock lock(mutex_);
  const Timeline::Span span = timeline_.submit(duration_ns, stream, steady_now());
  if (!wants(kind_memcpy)) return;
  MemcpyRecord record;
  describe(copy, &record);
  record.bytes = copy.bytes;
  record.start = span.start;
  record.end = span.end;
  record.stream_id = shown_stream(stream);
  record.correlation_id = open_call.correlation;
  add(record);
}

void Recorder::fill(const FillActivity& fill, std::uint64_t duration_ns, StreamId stream) {
  const Call call(this, runtime_api::memset_async);
  const Lock lock(mutex_);
  const Timeline::Span span = timeline_.submit(duration_ns, stream, steady_now());
  if (!wants(kind_memset)) return;
  MemsetRecord record;
  record.value = fill.value;
  record.bytes = fill.bytes;
  record.start = span.start;
  record.end = span.end;
  record.stream_id = shown_stream(stream);
  record.correlation_id = open_call.correlation;
  add(record);
}

void Recorder::record_event(EventId event, StreamId stream) {
  const Lock lock(mutex_);
  const std::uint64_t reached = timeline_.record(event, stream, steady_now());
  if (!wants(kind_cuda_event)) return;
  EventRecord record;
  record.correlation_id = open_call.correlation;
  record.stream_id = shown_stream(stream);
  record.event_id = static_cast<std::uint32_t>(event >> 8);  // handles are multiples of 256
  record.end = reached;
  add(record);
}

void Recorder::wait_event(StreamId stream, EventId event) {
  const Lock lock(mutex_);
  timeline_.wait(stream, event);
  if (!wants(kind_synchronization)) return;
  SynchronizationRecord record;
  record.type = sync_stream_wait_event;
  record.start = steady_now();
  record.end = record.start + 1;
  record.correlation_id = open_call.correlation;
  record.stream_id = shown_stream(stream);
  record.event_id = static_cast<std::uint32_t>(event >> 8);
  add(record);
}

void Recorder::wait_until(std::uint64_t end, SynchronizationRecord record) {
  record.start = steady_now();
  sleep_until(end);
  const Lock lock(mutex_);
  if (!wants(kind_synchronization)) return;
  record.end = std::max(steady_now(), record.start + 1);
  record.correlation_id = open_call.correlation;
  add(record);
}

void Recorder::wait_for_stream(StreamId stream) {
  SynchronizationRecord record;
  record.type = sync_stream;
  record.stream_id = shown_stream(stream);
  std::uint64_t end = 0;
  {
    const Lock lock(mutex_);
    end = timeline_.end_of_stream(stream);
  }
  wait_until(end, record);
}

void Recorder::wait_for_event(EventId event) {
  SynchronizationRecord record;
  record.type = sync_event;
  record.event_id = static_cast<std::uint32_t>(event >> 8);
  std::uint64_t end = 0;
  {
    const Lock lock(mutex_);
    end = timeline_.end_of_event(event);
  }
  wait_until(end, record);
}

void Recorder::wait_for_device() {
  SynchronizationRecord record;
  record.type = sync_context;
  std::uint64_t end = 0;
  {
    const Lock lock(mutex_);
    end = timeline_.end();
  }
  wait_until(end, record);
}

}  // namespace ullage::vgpu::cupti
