// SPDX-License-Identifier: Apache-2.0
// The virtual GPU of one process, as the stand-in libraries see it. The driver stand-in (libcuda.so.1) owns the only
// instance; every other stand-in links to it and reaches it through ullage_machine(). No CUDA header is needed here:
// codes, handles and structures of the ABI are the business of the layers above.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ulog.hpp"
#include "cost/kernel/kernel_cost.hpp"
#include "virtual_gpu/device/activity.hpp"
#include "virtual_gpu/device/ids.hpp"
#include "virtual_gpu/device/kernel_layout.hpp"
#include "virtual_gpu/device/profile.hpp"
#include "virtual_gpu/device/workspace_range.hpp"

namespace ullage::vgpu {

using cost::Work;
using ulog::Direction;
using ulog::MemoryKind;

enum class Status {
  ok,
  out_of_memory,
  invalid_value,
  invalid_handle,
  not_ready,
  not_permitted,     ///< the call is not allowed while a capture is under way
  capture_unjoined,  ///< a capture ended while a forked stream had not joined
  capture_implicit,  ///< the legacy stream was used during a capture
  already_mapped,
};

/// What an address is, as cudaPointerGetAttributes tells it.
struct PointerInfo {
  enum class Kind { unregistered, device, host, managed } kind = Kind::unregistered;
  Address base = 0;         ///< start of the block or of the pinned range
  std::uint64_t bytes = 0;  ///< its size as requested
};

struct MemoryInfo {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;  ///< what CUDA shows as the capacity
  std::uint64_t used_bytes = 0;   ///< context included; over total when charging is unlimited
};

struct Interval {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// One matrix product, for the log. Shapes are those of the call (column major as cuBLAS counts).
struct GemmCall {
  const char* function = "";
  std::uint64_t m = 0, n = 0, k = 0, batch = 1;
  std::uint32_t type = 0;     ///< cudaDataType of A
  std::uint32_t compute = 0;  ///< cublasComputeType_t
};

struct KernelLaunch {
  const char* name = "";  ///< mangled
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  void** arguments = nullptr;  ///< one pointer per parameter, as cudaLaunchKernel takes them; may be null
  std::span<const ParameterSlot> parameters;  ///< sizes of the parameters; empty when they are not known
};

enum class CaptureState { none, active, invalidated };

/// Everything is safe to call from several threads. Handles that are not known give Status::invalid_handle.
class Machine {
 public:
  virtual const Profile& profile() const = 0;

  // --- device memory: requests are charged in units of 2 MiB ---
  virtual Status allocate(std::uint64_t bytes, MemoryKind kind, Address* out) = 0;  ///< size 0: *out = 0 and ok
  virtual Status release(Address address) = 0;  ///< invalid_value: double free, foreign pointer
  virtual MemoryInfo memory_info() const = 0;
  virtual Status reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, Address* out) = 0;
  virtual Status release_addresses(Address address, std::uint64_t bytes) = 0;
  virtual Status create_physical(std::uint64_t bytes, std::uint64_t* handle) = 0;
  virtual Status release_physical(std::uint64_t handle) = 0;
  virtual Status map(Address address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t handle) = 0;
  virtual Status unmap(Address address, std::uint64_t bytes) = 0;

  // --- host memory ---
  virtual Status allocate_pinned(std::uint64_t bytes, void** out) = 0;
  virtual Status free_pinned(void* pointer) = 0;
  virtual Status register_host(void* pointer, std::uint64_t bytes) = 0;
  virtual Status unregister_host(void* pointer) = 0;
  virtual PointerInfo pointer_info(const void* pointer) const = 0;

  // --- transfers: small ones are real, large ones move nothing ---
  virtual Status copy(void* destination, const void* source, std::uint64_t bytes, StreamId stream, bool blocking) = 0;
  virtual Status fill(void* destination, std::uint32_t value, std::uint32_t value_bytes, std::uint64_t count,
                      StreamId stream) = 0;

  // --- work ---
  virtual Interval submit(const Work& work, StreamId stream, const char* name) = 0;  ///< name: for a profiler
  virtual void launch(const KernelLaunch& launch, StreamId stream) = 0;
  virtual void gemm(const GemmCall& call, StreamId stream) = 0;
  virtual void collective(const char* function, std::uint64_t bytes, std::uint32_t ranks, StreamId stream) = 0;

  // --- streams and events ---
  virtual StreamId create_stream(std::uint32_t flags, int priority) = 0;
  virtual Status destroy_stream(StreamId stream) = 0;
  virtual Status stream_properties(StreamId stream, std::uint32_t* flags, int* priority) const = 0;
  virtual Status query_stream(StreamId stream) = 0;
  virtual Status synchronize_stream(StreamId stream, const char* function) = 0;
  virtual Status synchronize_device(const char* function) = 0;
  virtual Status wait_event(StreamId stream, EventId event) = 0;
  virtual EventId create_event(std::uint32_t flags) = 0;
  virtual Status destroy_event(EventId event) = 0;
  virtual Status record_event(EventId event, StreamId stream) = 0;
  virtual Status query_event(EventId event) = 0;
  virtual Status synchronize_event(EventId event, const char* function) = 0;
  virtual Status elapsed_ms(EventId start, EventId end, float* ms) = 0;

  // --- graph capture ---
  virtual Status begin_capture(StreamId stream, int mode, std::uint64_t graph) = 0;  ///< graph 0: a new one
  virtual Status end_capture(StreamId stream, std::uint64_t* graph) = 0;
  virtual CaptureState capture_state(StreamId stream, std::uint64_t* capture_id, std::uint64_t* graph) const = 0;
  virtual Status launch_graph(std::uint64_t graph, StreamId stream) = 0;
  virtual std::uint64_t graph_node_count(std::uint64_t graph) const = 0;

  // --- everything else ---
  virtual std::uint64_t new_handle() = 0;  ///< never 0, never the same twice; looks like an aligned pointer
  /// A library works with scratch memory that its caller gave it; `purpose` must live for ever.
  virtual void use_workspace(const char* purpose, const WorkspaceRange& range) = 0;
  virtual void count_stub(const char* library, const char* function) = 0;  ///< strings must live for ever
  virtual std::uint64_t host_time_ns() = 0;
  virtual void flush_log() = 0;

  /// The profiler that looks on; null while there is none.
  ActivityObserver* observer() const { return observer_.load(std::memory_order_acquire); }
  void set_observer(ActivityObserver* observer) { observer_.store(observer, std::memory_order_release); }

 protected:
  ~Machine() = default;

 private:
  std::atomic<ActivityObserver*> observer_{nullptr};
};

}  // namespace ullage::vgpu

/// The machine of this process; made at the first call, never destroyed. Exported by libcuda.so.1 only.
extern "C" ullage::vgpu::Machine* ullage_machine();
