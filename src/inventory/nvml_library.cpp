// SPDX-License-Identifier: Apache-2.0
#include "inventory/nvml_library.hpp"

#include <dlfcn.h>

#include <string>

namespace ullage::inventory {
namespace {

constexpr const char* file = "libnvidia-ml.so.1";

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load(void* library, NvmlLibrary& nvml) {
  find(library, "nvmlDeviceGetMigMode", nvml.mig_mode);
  return find(library, "nvmlInit_v2", nvml.init) && find(library, "nvmlShutdown", nvml.shutdown) &&
         find(library, "nvmlErrorString", nvml.error_string) &&
         find(library, "nvmlSystemGetDriverVersion", nvml.driver_version) &&
         find(library, "nvmlSystemGetCudaDriverVersion", nvml.cuda_version) &&
         find(library, "nvmlDeviceGetCount_v2", nvml.count) &&
         find(library, "nvmlDeviceGetHandleByIndex_v2", nvml.handle) && find(library, "nvmlDeviceGetName", nvml.name) &&
         find(library, "nvmlDeviceGetUUID", nvml.uuid) && find(library, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
         find(library, "nvmlDeviceGetCudaComputeCapability", nvml.compute_capability);
}

}  // namespace

Result<const NvmlLibrary*> nvml_library() {
  static NvmlLibrary nvml;
  static void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  static const bool complete = library != nullptr && load(library, nvml);
  if (complete) return &nvml;
  const std::string what =
      library == nullptr ? "there is no NVML library on this machine" : "the NVML library is too old";
  return fail(ErrorKind::unsupported, what, file, "the one that comes with NVIDIA's driver");
}

}  // namespace ullage::inventory
