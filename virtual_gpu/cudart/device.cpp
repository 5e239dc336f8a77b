// SPDX-License-Identifier: Apache-2.0
// Devices, versions, limits.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "virtual_gpu/abi/runtime13.hpp"
#include "virtual_gpu/cudart/cudart.hpp"
#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/device/attributes.hpp"

namespace ullage::vgpu {
namespace {

constexpr int cuda_version = 13000;

int attr(int number) {
  return attribute(machine().profile(), number).value_or(0);
}

void fill_sizes(abi::DeviceProperties* p) {
  const Profile& profile = machine().profile();
  p->total_global_mem = profile.total_bytes;
  p->shared_mem_per_block = static_cast<std::size_t>(attr(8));
  p->shared_mem_per_multiprocessor = static_cast<std::size_t>(attr(81));
  p->shared_mem_per_block_optin = static_cast<std::size_t>(attr(97));
  p->reserved_shared_mem_per_block = static_cast<std::size_t>(attr(111));
  p->mem_pitch = static_cast<std::size_t>(attr(11));
  p->total_const_mem = static_cast<std::size_t>(attr(9));
  p->texture_alignment = static_cast<std::size_t>(attr(14));
  p->texture_pitch_alignment = static_cast<std::size_t>(attr(51));
  p->surface_alignment = static_cast<std::size_t>(attr(30));
  p->l2_cache_size = attr(38);
  p->persisting_l2_cache_max_size = attr(108);
  p->access_policy_max_window_size = attr(109);
  p->memory_bus_width = attr(37);
}

void fill_limits(abi::DeviceProperties* p) {
  p->regs_per_block = attr(12);
  p->regs_per_multiprocessor = attr(82);
  p->warp_size = attr(10);
  p->max_threads_per_block = attr(1);
  for (int i = 0; i < 3; ++i) {
    p->max_threads_dim[i] = attr(2 + i);
    p->max_grid_size[i] = attr(5 + i);
  }
  p->major = attr(75);
  p->minor = attr(76);
  p->multi_processor_count = attr(16);
  p->max_threads_per_multi_processor = attr(39);
  p->max_blocks_per_multi_processor = attr(106);
  std::fill(std::begin(p->texture_limits), std::end(p->texture_limits), 16384);
}

void fill_abilities(abi::DeviceProperties* p) {
  p->can_map_host_memory = attr(19);
  p->concurrent_kernels = attr(31);
  p->ecc_enabled = attr(32);
  p->pci_bus_id = attr(33);
  p->async_engine_count = attr(40);
  p->unified_addressing = attr(41);
  p->stream_priorities_supported = attr(78);
  p->global_l1_cache_supported = p->local_l1_cache_supported = 1;
  p->managed_memory = attr(83);
  p->concurrent_managed_access = attr(89);
  p->compute_preemption_supported = attr(90);
  p->can_use_host_pointer_for_registered_mem = attr(91);
  p->cooperative_launch = attr(95);
  p->host_register_supported = attr(99);
  p->memory_pools_supported = attr(115);
  p->ipc_event_supported = attr(125);
  p->cluster_launch = attr(120);
  p->unified_function_pointers = attr(129);
  p->device_numa_id = p->host_numa_id = -1;
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cudaGetDeviceCount(int* count) {
  *count = 1;
  return rt_success;
}

int cudaGetDevice(int* device) {
  *device = 0;
  return rt_success;
}

int cudaSetDevice(int device) {
  return device == 0 ? int{rt_success} : last_error(rt_invalid_device);
}

int cudaGetDeviceProperties(ullage::abi::DeviceProperties* properties, int device) {
  if (device != 0) return last_error(rt_invalid_device);
  *properties = {};
  std::strncpy(properties->name, machine().profile().name.c_str(), sizeof(properties->name) - 1);
  std::memcpy(properties->uuid, "ullage-virtual-0", 16);
  fill_sizes(properties);
  fill_limits(properties);
  fill_abilities(properties);
  return rt_success;
}

int cudaDeviceGetAttribute(int* value, int number, int device) {
  if (device != 0) return last_error(rt_invalid_device);
  const auto known = attribute(machine().profile(), number);
  if (!known) return last_error(rt_invalid_value);
  *value = *known;
  return rt_success;
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (device != 0) return last_error(rt_invalid_device);
  std::strncpy(text, "0000:01:00.0", static_cast<std::size_t>(length));
  return rt_success;
}

int cudaDeviceGetByPCIBusId(int* device, const char*) {
  *device = 0;
  return rt_success;
}

int cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return rt_success;
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return rt_success;
}

int cudaDeviceGetLimit(std::size_t* value, int) {
  *value = 1024;
  return rt_success;
}

int cudaDriverGetVersion(int* version) {
  *version = cuda_version;
  return rt_success;
}

int cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

int cudaDeviceSynchronize() {
  const ApiScope scope(runtime_api::device_synchronize);
  return rt(machine().synchronize_device("cudaDeviceSynchronize"));
}
int cudaDeviceReset() {
  return rt_success;
}

int cudaGetDeviceFlags(unsigned* flags) {
  *flags = 0;
  return rt_success;
}

}  // extern "C"
