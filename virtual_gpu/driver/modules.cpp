// SPDX-License-Identifier: Apache-2.0
// Modules, libraries, functions and launches. No code is loaded: a function is its name and what its image says of it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/device/attributes.hpp"
#include "virtual_gpu/driver/driver.hpp"
#include "virtual_gpu/driver/module.hpp"

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

int put_module(void** out, const void* image) {
  *out = new Module(elf_image(image));
  return cu_success;
}

int put_module_of_file(void** out, const char* path) {
  const std::vector<std::byte> image = file_bytes(path);
  if (image.empty()) return cu_file_not_found;
  *out = new Module(image);
  return cu_success;
}

int put_function(void** out, void* module, const char* name) {
  *out = static_cast<Module*>(module)->function(name);
  return *out ? int{cu_success} : int{cu_not_found};
}

void launch(Function* function, const unsigned (&grid)[3], const unsigned (&block)[3], void* stream, void** arguments) {
  KernelLaunch launch;
  launch.name = function->name;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = grid[i];
    launch.block[i] = block[i];
  }
  launch.arguments = arguments;
  launch.parameters = function->parameters();
  machine().launch(launch, stream_id(stream));
}

// CU_FUNC_ATTRIBUTE_*
int function_attribute(int number, const KernelResources& resources) {
  switch (number) {
    case 0:
      return largest_block(resources);
    case 1:
      return static_cast<int>(resources.shared_bytes);
    case 3:
      return static_cast<int>(resources.local_bytes);
    case 4:
      return static_cast<int>(resources.registers);
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

int cuModuleLoad(void** module, const char* path) {
  return put_module_of_file(module, path);
}
int cuModuleLoadData(void** module, const void* image) {
  return put_module(module, image);
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned, void*, void**) {
  return put_module(module, image);
}
int cuModuleLoadFatBinary(void** module, const void* image) {
  return put_module(module, image);
}
int cuModuleUnload(void*) {
  return cu_success;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  return put_function(function, module, name);
}

int cuModuleGetLoadingMode(int* mode) {
  *mode = 2;  // lazy
  return cu_success;
}

int cuLibraryLoadData(void** library, const void* image, void*, void**, unsigned, void*, void**, unsigned) {
  return put_module(library, image);
}
int cuLibraryLoadFromFile(void** library, const char* path, void*, void**, unsigned, void*, void**, unsigned) {
  return put_module_of_file(library, path);
}
int cuLibraryUnload(void*) {
  return cu_success;
}
int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return put_function(kernel, library, name);
}
int cuLibraryGetModule(void** module, void* library) {
  *module = library;
  return cu_success;
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
  *module = reinterpret_cast<void*>(machine().new_handle());
  return cu_success;
}

int cuFuncGetAttribute(int* value, int attribute, void* function) {
  if (!function) return cu_invalid_handle;
  *value = function_attribute(attribute, static_cast<Function*>(function)->resources);
  return cu_success;
}

int cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  return cuFuncGetAttribute(value, attribute, kernel);
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
  launch(static_cast<Function*>(function), {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream, parameters);
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
  launch(static_cast<Function*>(function), config->grid, config->block, config->stream, parameters);
  return cu_success;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int block_size, std::size_t shared_bytes) {
  const KernelResources resources = function ? static_cast<Function*>(function)->resources : KernelResources{32, 0, 0};
  const int by_device = active_blocks_per_sm(machine().profile(), block_size, shared_bytes + resources.shared_bytes);
  *blocks = std::min(by_device, blocks_by_registers(resources, block_size));
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
