// SPDX-License-Identifier: Apache-2.0
// NVML: initialisation, versions, finding the device.
#include "virtual_gpu/nvml/nvml.hpp"

#include <atomic>
#include <cstring>

using namespace ullage::vgpu;
using namespace ullage::vgpu::nvml;

namespace {

std::atomic<int> users{0};

int initialise() {
  ++users;
  return success;
}

int system_text(const char* value, char* out, unsigned length) {
  return initialised() ? write_text(value, out, length) : uninitialized;
}

int cuda_version(int* version) {
  if (version == nullptr) return invalid_argument;
  *version = 13000;
  return success;
}

int count(unsigned* out) {
  if (!initialised()) return uninitialized;
  if (out == nullptr) return invalid_argument;
  *out = 1;
  return success;
}

int find(bool matches, void** device, int otherwise) {
  if (!initialised()) return uninitialized;
  if (device == nullptr) return invalid_argument;
  if (!matches) return otherwise;
  *device = device_handle();
  return success;
}

/// Bus ids come with domains of four or eight digits.
bool same_bus(const char* wanted) {
  if (wanted == nullptr) return false;
  const std::size_t length = std::strlen(wanted), own = std::strlen(pci_bus_id);
  return length >= 7 && length <= own && std::strcmp(wanted, pci_bus_id + (own - length)) == 0;
}

}  // namespace

namespace ullage::vgpu::nvml {

bool initialised() {
  return users > 0;
}

void* device_handle() {
  static void* const handle = reinterpret_cast<void*>(ullage_machine()->new_handle());
  return handle;
}

int check(const void* device) {
  if (!initialised()) return uninitialized;
  return device == device_handle() ? success : invalid_argument;
}

int write_text(const std::string& text, char* out, unsigned length) {
  if (out == nullptr) return invalid_argument;
  if (text.size() >= length) return insufficient_size;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return success;
}

}  // namespace ullage::vgpu::nvml

extern "C" {

int nvmlInit() {
  return initialise();
}
int nvmlInit_v2() {
  return initialise();
}
int nvmlInitWithFlags(unsigned) {
  return initialise();
}

int nvmlShutdown() {
  if (!initialised()) return uninitialized;
  --users;
  return success;
}

const char* nvmlErrorString(int result) {
  switch (result) {
    case success:
      return "Success";
    case uninitialized:
      return "Uninitialized";
    case invalid_argument:
      return "Invalid Argument";
    case not_supported:
      return "Not Supported";
    case not_found:
      return "Not Found";
    case insufficient_size:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}

int nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return system_text("580.65.06", out, length);
}
int nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  return system_text("13.580.65.06", out, length);
}
int nvmlSystemGetCudaDriverVersion(int* version) {
  return cuda_version(version);
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return cuda_version(version);
}

int nvmlDeviceGetCount(unsigned* out) {
  return count(out);
}
int nvmlDeviceGetCount_v2(unsigned* out) {
  return count(out);
}

int nvmlDeviceGetHandleByIndex(unsigned index, void** device) {
  return find(index == 0, device, invalid_argument);
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  return find(index == 0, device, invalid_argument);
}
int nvmlDeviceGetHandleByPciBusId(const char* id, void** device) {
  return find(same_bus(id), device, not_found);
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  return find(same_bus(id), device, not_found);
}
int nvmlDeviceGetHandleByUUID(const char* id, void** device) {
  return find(id != nullptr && std::strcmp(id, uuid) == 0, device, not_found);
}

}  // extern "C"
