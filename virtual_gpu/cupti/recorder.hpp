// SPDX-License-Identifier: Apache-2.0
// Makes the records of what the virtual device is asked to do while a profiler has switched them on, and delivers them
// in the profiler's buffers.
//
// What readers rely on (PyTorch's Kineto): a buffer is asked for at the first record, or nothing is collected; the
// external correlations of a call precede its device work and share a buffer with it; times are in the unit of the
// registered callback; work that is not over when the capture ends is dropped, so waits really wait.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "virtual_gpu/cupti/clock.hpp"
#include "virtual_gpu/cupti/records.hpp"
#include "virtual_gpu/cupti/timeline.hpp"
#include "virtual_gpu/device/activity.hpp"

namespace ullage::vgpu::cupti {

using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
using CompleteBuffer = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                                std::size_t valid_bytes);

class Recorder final : public ActivityObserver {
 public:
  static constexpr std::size_t external_kinds = 8;
  static constexpr std::size_t record_limit = 4'000'000;  ///< held at once; more are dropped and counted

  // --- what the profiler sets ---
  void set_callbacks(RequestBuffer request, CompleteBuffer complete);
  void set_timestamp_callback(TimestampCallback callback);
  std::uint64_t now_ticks() const;
  /// Switches a kind of records; the recorder looks on while any is on and callbacks are there.
  void enable(std::uint32_t kind, bool on);
  /// Leaves out one function of the runtime or the driver.
  void enable_api(ApiCall call, bool on);
  /// External ids of this thread; pop gives 0 from an empty stack.
  static void push_external(std::uint32_t kind, std::uint64_t id);
  static bool pop_external(std::uint32_t kind, std::uint64_t* id);
  /// Hands all records to the profiler.
  void flush();
  std::size_t take_dropped();

  // --- what the device tells ---
  void enter(ApiCall call) override;
  void leave() override;
  void kernel(const KernelActivity& kernel, std::uint64_t duration_ns, StreamId stream) override;
  void copy(const CopyActivity& copy, std::uint64_t duration_ns, StreamId stream) override;
  void fill(const FillActivity& fill, std::uint64_t duration_ns, StreamId stream) override;
  void record_event(EventId event, StreamId stream) override;
  void wait_event(StreamId stream, EventId event) override;
  void wait_for_stream(StreamId stream) override;
  void wait_for_event(EventId event) override;
  void wait_for_device() override;

 private:
  using Lock = std::lock_guard<std::mutex>;
  using Record = std::variant<KernelRecord, MemcpyRecord, MemsetRecord, ApiRecord, ExternalRecord, EventRecord,
                              SynchronizationRecord>;
  class Call;  // a call of the API, or one made up around work that no call was seen for

  bool wants(std::uint32_t kind) const { return kind < kind_limit && enabled_[kind]; }
  void update_observer();
  void add(const Record& record);
  void add_externals(std::uint32_t correlation);
  void wait_until(std::uint64_t end, SynchronizationRecord record);
  void deliver(std::vector<Record> records);
  std::size_t write_group(const Record* first, std::size_t count, std::uint8_t* to) const;

  mutable std::mutex mutex_;
  RequestBuffer request_ = nullptr;
  CompleteBuffer complete_ = nullptr;
  std::bitset<kind_limit> enabled_;
  std::unordered_set<std::uint64_t> left_out_;
  TickConverter clock_;
  Timeline timeline_;
  std::vector<Record> records_;
  std::uint8_t* outstanding_ = nullptr;  ///< the buffer asked for at the first record
  std::size_t outstanding_bytes_ = 0;
  std::size_t dropped_ = 0;
  std::uint32_t next_correlation_ = 1;
  std::int64_t next_grid_ = 1;
};

/// The only one; never destroyed.
Recorder& recorder();

}  // namespace ullage::vgpu::cupti
