// SPDX-License-Identifier: Apache-2.0
// Registration of the kernels that a library carries, and their launches.
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "virtual_gpu/abi/runtime13.hpp"
#include "virtual_gpu/cudart/cudart.hpp"
#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/device/attributes.hpp"

namespace ullage::vgpu {
namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<const void*, Function> functions;  // host stub -> kernel; nodes never move
  std::unordered_map<const void*, void*> symbols;       // host variable -> memory behind it
};

Registry& registry() {
  static auto* made = new Registry;
  return *made;
}

/// A module's handle is its layout; modules live as long as the process.
KernelLayout* new_module(const void* image) {
  const Profile& profile = machine().profile();
  return new KernelLayout(image, profile.cc_major * 10 + profile.cc_minor);
}

Function* find_function(const void* stub) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto it = registry().functions.find(stub);
  return it == registry().functions.end() ? nullptr : &it->second;
}

struct CallConfiguration {
  abi::Dim3 grid, block;
  std::size_t shared_bytes;
  void* stream;
};

thread_local CallConfiguration pushed;

int launch(Function* function, abi::Dim3 grid, abi::Dim3 block, void** arguments, void* stream) {
  if (!function) return last_error(rt_invalid_device_function);
  KernelLaunch launch;
  launch.name = function->name;
  std::copy_n(&grid.x, 3, launch.grid);
  std::copy_n(&block.x, 3, launch.block);
  launch.arguments = arguments;
  launch.parameters = function->parameters();
  machine().launch(launch, stream_id(stream));
  return rt_success;
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;
using ullage::abi::Dim3;

extern "C" {

void** __cudaRegisterFatBinary(void* image) {
  return reinterpret_cast<void**>(new_module(image));
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}

void __cudaRegisterFunction(void** module, const char* stub, char*, const char* name, int, void*, void*, void*, void*,
                            int*) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  Function& function = registry().functions[stub];
  function.name = name;
  function.layout = reinterpret_cast<KernelLayout*>(module);
}

void __cudaRegisterVar(void**, char* variable, char*, const char*, int, std::size_t bytes, int, int) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  registry().symbols.try_emplace(variable, std::calloc(1, std::max<std::size_t>(bytes, 1)));
}

int cudaGetSymbolAddress(void** address, const void* symbol) {
  const std::lock_guard<std::mutex> lock(registry().mutex);
  const auto it = registry().symbols.find(symbol);
  *address = it == registry().symbols.end() ? nullptr : it->second;
  return *address ? int{rt_success} : last_error(13);
}

unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes, void* stream) {
  pushed = {grid, block, shared_bytes, stream};
  return 0;
}

int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes, void** stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *shared_bytes = pushed.shared_bytes;
  *stream = pushed.stream;
  return rt_success;
}

int __cudaGetKernel(void** kernel, const void* stub) {
  *kernel = find_function(stub);
  return *kernel ? int{rt_success} : last_error(rt_invalid_device_function);
}

int cudaGetKernel(void** kernel, const void* stub) {
  return __cudaGetKernel(kernel, stub);
}

int cudaGetFuncBySymbol(void** function, const void* stub) {
  return __cudaGetKernel(function, stub);
}

int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t, void* stream) {
  const ApiScope scope(runtime_api::launch_kernel);
  return launch(static_cast<Function*>(kernel), grid, block, arguments, stream);
}

int __cudaLaunchKernel_ptsz(void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t, void* stream) {
  const ApiScope scope(runtime_api::launch_kernel);
  return launch(static_cast<Function*>(kernel), grid, block, arguments, stream);
}

int cudaLaunchKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments, std::size_t, void* stream) {
  const ApiScope scope(runtime_api::launch_kernel);
  return launch(find_function(stub), grid, block, arguments, stream);
}

int cudaLaunchCooperativeKernel(const void* stub, Dim3 grid, Dim3 block, void** arguments, std::size_t, void* stream) {
  const ApiScope scope(runtime_api::launch_cooperative_kernel);
  return launch(find_function(stub), grid, block, arguments, stream);
}

int cudaLaunchKernelExC(const ullage::abi::LaunchConfig* config, const void* stub, void** arguments) {
  const ApiScope scope(runtime_api::launch_kernel_ex);
  return launch(find_function(stub), config->grid, config->block, arguments, config->stream);
}

int cudaFuncGetAttributes(ullage::abi::FunctionAttributes* out, const void*) {
  *out = {};
  out->max_threads_per_block = 1024;
  out->num_regs = 32;
  out->ptx_version = out->binary_version = code_architecture(machine().profile());
  out->max_dynamic_shared_size_bytes = 49152;
  return rt_success;
}

int cudaFuncSetAttribute(const void*, int, int) {
  return rt_success;
}
int cudaFuncSetCacheConfig(const void*, int) {
  return rt_success;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block_size, std::size_t shared_bytes) {
  *blocks = active_blocks_per_sm(machine().profile(), block_size, shared_bytes);
  return rt_success;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* stub, int block_size,
                                                           std::size_t shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, stub, block_size, shared_bytes);
}

}  // extern "C"
