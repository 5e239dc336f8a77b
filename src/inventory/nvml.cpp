// SPDX-License-Identifier: Apache-2.0
#include "inventory/nvml.hpp"

#include <array>

namespace ullage::inventory {
namespace {

constexpr unsigned most_gpus = 1024;

std::string reason(const NvmlLibrary& nvml, int status) {
  const char* text = nvml.error_string(status);
  return text != nullptr ? text : "NVML error " + std::to_string(status);
}

/// A text of the library; its status goes to `status`.
template <class Ask>
std::string text_of(Ask ask, int& status) {
  std::array<char, 256> text{};
  status = ask(text.data(), static_cast<unsigned>(text.size()));
  text.back() = '\0';
  return status == 0 ? std::string(text.data()) : std::string();
}

std::string cuda_of(const NvmlLibrary& nvml) {
  int version = 0;
  if (nvml.cuda_version(&version) != 0 || version <= 0) return {};
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

InstalledGpu read_gpu(const NvmlLibrary& nvml, unsigned index) {
  InstalledGpu gpu;
  gpu.index = index;
  const auto note = [&](int status) {
    if (status != 0 && gpu.error.empty()) gpu.error = reason(nvml, status);
  };
  void* device = nullptr;
  int status = nvml.handle(index, &device);
  note(status);
  if (status != 0) return gpu;
  gpu.name = text_of([&](char* out, unsigned size) { return nvml.name(device, out, size); }, status);
  note(status);
  gpu.uuid = text_of([&](char* out, unsigned size) { return nvml.uuid(device, out, size); }, status);
  NvmlMemory memory{};
  note(status = nvml.memory(device, &memory));
  if (status == 0) {
    gpu.memory_bytes = memory.total;
    gpu.used_bytes = memory.used;
  }
  int major = 0, minor = 0;
  if (nvml.compute_capability(device, &major, &minor) == 0) gpu.compute_capability = {major, minor};
  unsigned mode = 0, pending = 0;
  gpu.mig = nvml.mig_mode != nullptr && nvml.mig_mode(device, &mode, &pending) == 0 && mode == 1;
  return gpu;
}

}  // namespace

Result<InstalledGpus> installed_gpus(const NvmlLibrary& nvml) {
  if (const int status = nvml.init(); status != 0)
    return fail(ErrorKind::unsupported, "NVML does not start: " + reason(nvml, status), {}, "a working NVIDIA driver");
  InstalledGpus result;
  int status = 0;
  result.driver = text_of(nvml.driver_version, status);
  result.cuda = cuda_of(nvml);
  unsigned count = 0;
  status = nvml.count(&count);
  for (unsigned i = 0; status == 0 && i < count && i < most_gpus; ++i) result.gpus.push_back(read_gpu(nvml, i));
  nvml.shutdown();
  if (status != 0)
    return fail(ErrorKind::unsupported, "NVML does not count the GPUs: " + reason(nvml, status), {},
                "a working NVIDIA driver");
  return result;
}

Result<InstalledGpus> installed_gpus() {
  return nvml_library().and_then([](const NvmlLibrary* nvml) { return installed_gpus(*nvml); });
}

}  // namespace ullage::inventory
