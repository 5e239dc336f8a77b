// SPDX-License-Identifier: Apache-2.0
// The few structures of the CUDA 13 runtime interface that the stand-in fills in or reads. Layouts are facts of the
// ABI; virtual_gpu/stubs/check_against_headers.py compares them with NVIDIA's headers where those are installed.
#pragma once

#include <cstddef>

namespace ullage::abi {

struct Dim3 {
  unsigned x, y, z;
};

struct DeviceProperties {  // cudaDeviceProp
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_mem;
  std::size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  std::size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  std::size_t total_const_mem;
  int major;
  int minor;
  std::size_t texture_alignment;
  std::size_t texture_pitch_alignment;
  int multi_processor_count;
  int integrated;
  int can_map_host_memory;
  int texture_limits[39];  // textures, then surfaces
  std::size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id;
  int pci_device_id;
  int pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported;
  int local_l1_cache_supported;
  std::size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board;
  int multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch;
  std::size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  std::size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_cuda_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_cuda_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
  int device_numa_config;
  int device_numa_id;
  int mps_enabled;
  int host_numa_id;
  unsigned gpu_pci_device_id;
  unsigned gpu_pci_subsystem_id;
  int host_numa_multinode_ipc_supported;
  int reserved[56];
};

struct FunctionAttributes {  // cudaFuncAttributes
  std::size_t shared_size_bytes;
  std::size_t const_size_bytes;
  std::size_t local_size_bytes;
  int max_threads_per_block;
  int num_regs;
  int ptx_version;
  int binary_version;
  int cache_mode_ca;
  int max_dynamic_shared_size_bytes;
  int preferred_shmem_carveout;
  int cluster_dim_must_be_set;
  int required_cluster[3];
  int cluster_scheduling_policy_preference;
  int non_portable_cluster_size_allowed;
  int reserved[16];
};

struct PointerAttributes {  // cudaPointerAttributes
  int type;                 // 0 unregistered, 1 host, 2 device, 3 managed
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];
};

struct LaunchConfig {  // cudaLaunchConfig_t
  Dim3 grid;
  Dim3 block;
  std::size_t dynamic_shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

}  // namespace ullage::abi
