// SPDX-License-Identifier: Apache-2.0
// The Machine of this process: memory, streams, values and log behind one lock.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "virtual_gpu/device/backing.hpp"
#include "virtual_gpu/device/device_memory.hpp"
#include "virtual_gpu/device/event_log.hpp"
#include "virtual_gpu/device/host_ranges.hpp"
#include "virtual_gpu/device/known_values.hpp"
#include "virtual_gpu/device/machine.hpp"
#include "virtual_gpu/device/repeated_copies.hpp"
#include "virtual_gpu/device/streams.hpp"

namespace ullage::vgpu {

struct MachineOptions {
  Profile profile;
  std::string run_directory;  ///< empty: nothing is written
  std::uint64_t base = Backing::default_base;
  std::uint64_t window = Backing::default_window;
};

/// What the virtual device holds of the host's memory. Bytes.
struct HostCosts {
  std::uint64_t device_resident = 0;  ///< pages behind device memory: on a real machine there are none
  std::uint64_t pinned = 0;           ///< pinned memory, of which a real machine holds every page
  std::uint64_t pinned_resident = 0;  ///< the part of it that was touched here
};

/// Writes the line of code that runs on this thread ("file:line function") and returns its length; 0 for none.
using LineCallback = std::uint32_t (*)(char* text, std::uint32_t capacity);

class LocalMachine final : public Machine {
 public:
  explicit LocalMachine(MachineOptions options);
  LocalMachine(const LocalMachine&) = delete;
  LocalMachine& operator=(const LocalMachine&) = delete;

  const Profile& profile() const override { return options_.profile; }

  Status allocate(std::uint64_t bytes, MemoryKind kind, Address* out) override;
  Status release(Address address) override;
  MemoryInfo memory_info() const override;
  Status reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, Address* out) override;
  Status release_addresses(Address address, std::uint64_t bytes) override;
  Status create_physical(std::uint64_t bytes, std::uint64_t* handle) override;
  Status release_physical(std::uint64_t handle) override;
  Status map(Address address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t handle) override;
  Status unmap(Address address, std::uint64_t bytes) override;

  Status allocate_pinned(std::uint64_t bytes, void** out) override;
  Status free_pinned(void* pointer) override;
  Status register_host(void* pointer, std::uint64_t bytes) override;
  Status unregister_host(void* pointer) override;
  PointerInfo pointer_info(const void* pointer) const override;

  Status copy(void* destination, const void* source, std::uint64_t bytes, StreamId stream, bool blocking) override;
  Status fill(void* destination, std::uint32_t value, std::uint32_t value_bytes, std::uint64_t count,
              StreamId stream) override;

  Interval submit(const Work& work, StreamId stream, const char* name) override;
  void launch(const KernelLaunch& launch, StreamId stream) override;
  void gemm(const GemmCall& call, StreamId stream) override;
  void collective(const char* function, std::uint64_t bytes, std::uint32_t ranks, StreamId stream) override;

  StreamId create_stream(std::uint32_t flags, int priority) override;
  Status destroy_stream(StreamId stream) override;
  Status stream_properties(StreamId stream, std::uint32_t* flags, int* priority) const override;
  Status query_stream(StreamId stream) override;
  Status synchronize_stream(StreamId stream, const char* function) override;
  Status synchronize_device(const char* function) override;
  Status wait_event(StreamId stream, EventId event) override;
  EventId create_event(std::uint32_t flags) override;
  Status destroy_event(EventId event) override;
  Status record_event(EventId event, StreamId stream) override;
  Status query_event(EventId event) override;
  Status synchronize_event(EventId event, const char* function) override;
  Status elapsed_ms(EventId start, EventId end, float* ms) override;

  Status begin_capture(StreamId stream, int mode, std::uint64_t graph) override;
  Status end_capture(StreamId stream, std::uint64_t* graph) override;
  CaptureState capture_state(StreamId stream, std::uint64_t* capture_id, std::uint64_t* graph) const override;
  Status launch_graph(std::uint64_t graph, StreamId stream) override;
  std::uint64_t graph_node_count(std::uint64_t graph) const override;

  std::uint64_t new_handle() override;
  void use_workspace(const char* purpose, const WorkspaceRange& range) override;
  void count_stub(const char* library, const char* function) override;
  std::uint64_t host_time_ns() override;
  void flush_log() override;

  // --- for the hook ---
  void set_line_callback(LineCallback callback) { line_callback_ = callback; }
  /// The line that the calls of this thread are made from, until the next one; empty: ask the callback.
  static void set_thread_line(std::string line);
  void mark(std::uint32_t index);
  /// Completes the log; what happens later is not written.
  void close_log();
  /// In the child: it may use the device if its parent has not.
  void after_fork();
  bool is_known(std::uint64_t address, std::uint64_t bytes) const;
  void set_known(std::uint64_t address, std::uint64_t bytes, bool known);
  /// While on, kernels of this thread make nothing unknown: the caller does, by set_known().
  static void settle_here(bool on);
  /// What the next read of 4 or 8 bytes on this thread gives; negative: what it reads.
  static void answer_next_read(std::int64_t value);
  /// True when this process is the one whose memory the run is about.
  bool owns_run() const { return owns_run_; }
  std::uint64_t device_peak_bytes() const;
  HostCosts host_costs() const;

 private:
  using Lock = std::lock_guard<std::mutex>;
  struct Transfer {
    std::uint64_t destination, source, bytes;
    Direction direction;
    bool pinned;
    StreamId stream;
    bool repeated = false;
  };

  std::string current_line() const;
  static void set_read_line(const std::string& line);
  static std::string line_of_wait();
  void claim_run();
  void write_other_process() const;
  void refuse_without_addresses() const;
  void log_memory(ulog::RecordType type, std::uint64_t address, std::uint64_t bytes, MemoryKind kind);
  Interval run(const Work& work, StreamId stream);
  void tell_kernel(const KernelActivity& kernel, Interval interval, StreamId stream);
  Status copy_now(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, StreamId stream, bool waits,
                  const std::string& line);
  Transfer describe(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes, StreamId stream) const;
  void move(const Transfer& transfer, bool* unknown);
  static bool answer(void* destination, std::uint64_t bytes);
  static std::uint32_t flags_of(const Transfer& transfer);
  void log_transfer(ulog::RecordType type, const Transfer& transfer, Interval interval, const std::string& line);
  void log_sync(const char* function, StreamId stream, std::uint64_t waited, const std::string& line);
  bool evaluate(const KernelLaunch& launch);
  void forget_written(const KernelLaunch& launch);
  void write_totals();

  MachineOptions options_;
  mutable std::mutex mutex_;
  Backing backing_;
  DeviceMemory memory_;
  HostRanges host_;
  KnownValues known_;
  RepeatedCopies repeated_;
  Streams streams_;
  EventLog log_;
  cost::CrudeKernelCost cost_;
  std::atomic<std::uint64_t> next_handle_{0x10000};
  std::atomic<LineCallback> line_callback_{nullptr};
  std::map<std::pair<const char*, const char*>, std::uint64_t> stub_calls_;
  std::uint64_t launches_ = 0;
  bool claimed_ = false;
  int pid_ = 0;  ///< of the process that made the machine; a fork has its own life
  std::atomic<bool> owns_run_{false};
};

}  // namespace ullage::vgpu
