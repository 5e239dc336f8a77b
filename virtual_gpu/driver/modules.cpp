// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, functions and launches. Nothing is loaded: a function is its name.
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/device/attributes.hpp"
#include "virtual_gpu/driver/driver.hpp"

namespace ullage::vgpu {
namespace {

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

/// One Function per name; they live for ever, as the handles do.
Function* intern(const char* name) {
  static std::mutex mutex;
  static auto* functions = new std::map<std::string, Function>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto it = functions->try_emplace(name).first;
  it->second.name = it->first.c_str();
  return &it->second;
}

int put_handle(void** out) {
  *out = reinterpret_cast<void*>(machine().new_handle());
  return cu_success;
}

int put_function(void** out, const char* name) {
  *out = intern(name);
  return cu_success;
}

void launch(const void* function, const unsigned (&grid)[3], const unsigned (&block)[3], void* stream,
            void** arguments) {
  KernelLaunch launch;
  launch.name = static_cast<const Function*>(function)->name;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid[i];
    launch.block[i] = block[i];
  }
  launch.arguments = arguments;
  machine().launch(launch, stream_id(stream));
}

// CU_FUNC_ATTRIBUTE_*
int function_attribute(int number) {
  switch (number) {
    case 0:
      return 1024;  // threads per block
    case 4:
      return 32;  // registers
    case 5:
    case 6:
      return code_architecture(machine().profile());
    case 8:
      return 49152;  // dynamic shared memory
    default:
      return 0;
  }
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cuModuleLoad(void** module, const char*) {
  return put_handle(module);
}
int cuModuleLoadData(void** module, const void*) {
  return put_handle(module);
}
int cuModuleLoadDataEx(void** module, const void*, unsigned, void*, void**) {
  return put_handle(module);
}
int cuModuleLoadFatBinary(void** module, const void*) {
  return put_handle(module);
}
int cuModuleUnload(void*) {
  return cu_success;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  return put_function(function, name);
}

int cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return cu_success;
}

int cuLibraryLoadData(void** library, const void*, void*, void**, unsigned, void*, void**, unsigned) {
  return put_handle(library);
}
int cuLibraryLoadFromFile(void** library, const char*, void*, void**, unsigned, void*, void**, unsigned) {
  return put_handle(library);
}
int cuLibraryUnload(void*) {
  return cu_success;
}
int cuLibraryGetKernel(void** kernel, void*, const char* name) {
  return put_function(kernel, name);
}
int cuLibraryGetModule(void** module, void*) {
  return put_handle(module);
}

int cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return cu_success;
}

int cuKernelGetName(const char** name, void* kernel) {
  *name = static_cast<Function*>(kernel)->name;
  return cu_success;
}

int cuFuncGetName(const char** name, void* function) {
  return cuKernelGetName(name, function);
}

int cuFuncGetModule(void** module, void*) {
  return put_handle(module);
}

int cuFuncGetAttribute(int* value, int attribute, void*) {
  *value = function_attribute(attribute);
  return cu_success;
}

int cuKernelGetAttribute(int* value, int attribute, void*, int) {
  *value = function_attribute(attribute);
  return cu_success;
}

int cuFuncSetAttribute(void*, int, int) {
  return cu_success;
}
int cuKernelSetAttribute(int, int, void*, int) {
  return cu_success;
}
int cuFuncSetCacheConfig(void*, int) {
  return cu_success;
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned, void* stream, void** parameters, void**) {
  const ApiScope scope(driver_api::launch_kernel);
  if (!function) return cu_invalid_handle;
  launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream, parameters);
  return cu_success;
}

int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,
                              void** parameters) {
  const ApiScope scope(driver_api::launch_cooperative_kernel);
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
                        nullptr);
}

int cuLaunchKernelEx(const LaunchConfig* config, void* function, void** parameters, void**) {
  const ApiScope scope(driver_api::launch_kernel_ex);
  if (!function) return cu_invalid_handle;
  launch(function, config->grid, config->block, config->stream, parameters);
  return cu_success;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int block_size, std::size_t shared_bytes) {
  *blocks = active_blocks_per_sm(machine().profile(), block_size, shared_bytes);
  return cu_success;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int block_size,
                                                         std::size_t shared_bytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}

int cuOccupancyMaxActiveClusters(int* clusters, void*, const void*) {
  *clusters = machine().profile().cc_major >= 9 ? machine().profile().sm_count / 2 : 0;
  return cu_success;
}

int cuTensorMapEncodeTiled(void* map, int, unsigned, void*, const void*, const void*, const void*, const void*, int,
                           int, int, int) {
  std::memset(map, 0, 128);
  return cu_success;
}

}  // extern "C"
