// SPDX-License-Identifier: Apache-2.0
// The records of CUPTI's activity interface that the stand-in delivers, as CUDA 13.0 lays them out. Readers made for
// older layouts read a prefix of these; they advance by cuptiActivityGetNextRecord only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ullage::vgpu::cupti {

/// CUpti_ActivityKind
enum Kind : std::uint32_t {
  kind_memcpy = 1,
  kind_memset = 2,
  kind_driver = 4,
  kind_runtime = 5,
  kind_concurrent_kernel = 10,
  kind_cuda_event = 36,
  kind_synchronization = 38,
  kind_external_correlation = 39,
  kind_limit = 64
};

/// CUpti_ActivitySynchronizationType
enum SynchronizationType : std::uint32_t {
  sync_event = 1,
  sync_stream_wait_event = 2,
  sync_stream = 3,
  sync_context = 4
};

inline constexpr std::uint32_t no_value = UINT32_MAX;  ///< a stream or event that a synchronisation does not have
inline constexpr std::uint32_t context_id = 1;

/// CUpti_ActivityKernel10
struct KernelRecord {
  std::uint32_t kind = kind_concurrent_kernel;
  std::uint8_t cache_config = 0, shared_memory_config = 0;
  std::uint16_t registers_per_thread = 32;
  std::uint32_t cache_requested = 0, cache_executed = 0;
  std::uint64_t start = 0, end = 0, completed = 0;
  std::uint32_t device_id = 0, context_id = cupti::context_id, stream_id = 0;
  std::int32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  std::int32_t static_shared_memory = 0, dynamic_shared_memory = 0;
  std::uint32_t local_memory_per_thread = 0, local_memory_total = 0;
  std::uint32_t correlation_id = 0;
  std::int64_t grid_id = 0;
  const char* name = "";
  void* reserved = nullptr;
  std::uint64_t queued = 0, submitted = 0;
  std::uint8_t launch_type = 0, carveout_requested = 0, carveout = 0, padding = 0;
  std::uint32_t shared_memory_executed = 0;
  std::uint64_t graph_node_id = 0;
  std::uint32_t shared_memory_limit = 0, graph_id = 0;
  void* access_policy = nullptr;
  std::uint32_t channel_id = 0, channel_type = 0;
  std::uint32_t cluster[3] = {0, 0, 0}, cluster_scheduling = 0;
  std::uint64_t local_memory_total_v2 = 0;
  std::uint32_t max_potential_cluster_size = 0, max_active_clusters = 0;
  std::uint8_t is_device_launched = 0, padding3[7] = {};
};
static_assert(sizeof(KernelRecord) == 216 && offsetof(KernelRecord, name) == 104 &&
              offsetof(KernelRecord, correlation_id) == 92);

/// CUpti_ActivityMemcpy6
struct MemcpyRecord {
  std::uint32_t kind = kind_memcpy;
  std::uint8_t copy_kind = 0, source_kind = 0, destination_kind = 0, flags = 0;
  std::uint64_t bytes = 0, start = 0, end = 0;
  std::uint32_t device_id = 0, context_id = cupti::context_id, stream_id = 0, correlation_id = 0;
  std::uint32_t runtime_correlation_id = 0, padding = 0;
  void* reserved = nullptr;
  std::uint64_t graph_node_id = 0;
  std::uint32_t graph_id = 0, channel_id = 0, channel_type = 0;
  std::uint8_t is_device_launched = 0, padding2[3] = {};
  std::uint64_t copy_count = 1;
};
static_assert(sizeof(MemcpyRecord) == 96 && offsetof(MemcpyRecord, correlation_id) == 44);

/// CUpti_ActivityMemset4
struct MemsetRecord {
  std::uint32_t kind = kind_memset;
  std::uint32_t value = 0;
  std::uint64_t bytes = 0, start = 0, end = 0;
  std::uint32_t device_id = 0, context_id = cupti::context_id, stream_id = 0, correlation_id = 0;
  std::uint16_t flags = 0, memory_kind = 3;  // device
  std::uint32_t padding = 0;
  void* reserved = nullptr;
  std::uint64_t graph_node_id = 0;
  std::uint32_t graph_id = 0, channel_id = 0, channel_type = 0;
  std::uint8_t is_device_launched = 0, padding2[3] = {};
};
static_assert(sizeof(MemsetRecord) == 88 && offsetof(MemsetRecord, correlation_id) == 44);

/// CUpti_ActivityAPI
struct ApiRecord {
  std::uint32_t kind = kind_runtime;
  std::uint32_t number = 0;
  std::uint64_t start = 0, end = 0;
  std::uint32_t process_id = 0, thread_id = 0, correlation_id = 0, return_value = 0;
};
static_assert(sizeof(ApiRecord) == 40);

/// CUpti_ActivityExternalCorrelation
struct ExternalRecord {
  std::uint32_t kind = kind_external_correlation;
  std::uint32_t external_kind = 0;
  std::uint64_t external_id = 0;
  std::uint32_t correlation_id = 0, reserved = 0;
};
static_assert(sizeof(ExternalRecord) == 24);

/// CUpti_ActivityCudaEvent2
struct EventRecord {
  std::uint32_t kind = kind_cuda_event;
  std::uint32_t correlation_id = 0, context_id = cupti::context_id, stream_id = 0, event_id = 0, padding = 0;
  std::uint32_t device_id = 0, padding2 = 0;
  void* reserved = nullptr;
  std::uint64_t end = 0;  ///< deviceTimestamp
  std::uint64_t synchronization_id = 0;
};
static_assert(sizeof(EventRecord) == 56);

/// CUpti_ActivitySynchronization2
struct SynchronizationRecord {
  std::uint32_t kind = kind_synchronization;
  std::uint32_t type = 0;
  std::uint64_t start = 0, end = 0;
  std::uint32_t correlation_id = 0, context_id = cupti::context_id, stream_id = no_value, event_id = no_value;
  std::uint64_t synchronization_id = 0;
  std::uint32_t return_value = 0, padding = 0;
};
static_assert(sizeof(SynchronizationRecord) == 56);

/// Bytes of a record of this kind; 0 for one that the stand-in does not make.
constexpr std::size_t record_bytes(std::uint32_t kind) {
  switch (kind) {
    case kind_memcpy:
      return sizeof(MemcpyRecord);
    case kind_memset:
      return sizeof(MemsetRecord);
    case kind_driver:
    case kind_runtime:
      return sizeof(ApiRecord);
    case kind_concurrent_kernel:
      return sizeof(KernelRecord);
    case kind_cuda_event:
      return sizeof(EventRecord);
    case kind_synchronization:
      return sizeof(SynchronizationRecord);
    case kind_external_correlation:
      return sizeof(ExternalRecord);
    default:
      return 0;
  }
}

}  // namespace ullage::vgpu::cupti
