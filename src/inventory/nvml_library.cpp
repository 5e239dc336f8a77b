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

bool take_functions(void* library, NvmlLibrary& nvml) {
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

/// Why it cannot be used; empty when it can.
std::string load(NvmlLibrary& nvml) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  return take_functions(library, nvml) ? "" : std::string(file) + " lacks functions: it is too old";
}

}  // namespace

Result<const NvmlLibrary*> nvml_library() {
  static NvmlLibrary nvml;
  static const std::string failure = load(nvml);
  if (failure.empty()) return &nvml;
  return fail(ErrorKind::unsupported, "NVIDIA's management library cannot be loaded", failure,
              "the one that comes with NVIDIA's driver");
}

}  // namespace ullage::inventory
