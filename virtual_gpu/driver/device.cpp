// SPDX-License-Identifier: Apache-2.0
// Devices and contexts: there is one device with one primary context.
#include <cstring>

#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/device/attributes.hpp"
#include "virtual_gpu/driver/driver.hpp"

namespace ullage::vgpu {
namespace {

constexpr int driver_version = 13000;
thread_local void* current_context = nullptr;
thread_local void* context_stack[16];
thread_local int context_depth = 0;
int context_tag;

}  // namespace

void* primary_context() {
  return &context_tag;
}

}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cuInit(unsigned) {
  return cu_success;
}

int cuDriverGetVersion(int* version) {
  *version = driver_version;
  return cu_success;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return cu_success;
}

int cuDeviceGet(int* device, int ordinal) {
  if (ordinal != 0) return cu_invalid_device;
  *device = 0;
  return cu_success;
}

int cuDeviceGetName(char* name, int length, int device) {
  if (device != 0) return cu_invalid_device;
  if (length <= 0) return cu_invalid_value;
  std::strncpy(name, machine().profile().name.c_str(), static_cast<std::size_t>(length));
  name[length - 1] = 0;
  return cu_success;
}

int cuDeviceGetUuid_v2(void* uuid, int device) {
  if (device != 0) return cu_invalid_device;
  std::memcpy(uuid, "ullage-virtual-0", 16);
  return cu_success;
}

int cuDeviceGetUuid(void* uuid, int device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  if (device != 0) return cu_invalid_device;
  *bytes = machine().profile().total_bytes;
  return cu_success;
}

int cuDeviceGetAttribute(int* value, int number, int device) {
  if (device != 0) return cu_invalid_device;
  const auto known = attribute(machine().profile(), number);
  if (!known) return cu_invalid_value;
  *value = *known;
  return cu_success;
}

int cuDeviceComputeCapability(int* major, int* minor, int device) {
  if (device != 0) return cu_invalid_device;
  *major = machine().profile().cc_major;
  *minor = machine().profile().cc_minor;
  return cu_success;
}

int cuDeviceGetPCIBusId(char* text, int length, int device) {
  if (device != 0) return cu_invalid_device;
  std::strncpy(text, "0000:01:00.0", static_cast<std::size_t>(length));
  return cu_success;
}

int cuDeviceGetByPCIBusId(int* device, const char*) {
  *device = 0;
  return cu_success;
}

int cuDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cu_success;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device != 0) return cu_invalid_device;
  *context = primary_context();
  return cu_success;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  return cu_success;
}
int cuDevicePrimaryCtxReset_v2(int) {
  return cu_success;
}
int cuDevicePrimaryCtxSetFlags_v2(int, unsigned) {
  return cu_success;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (device != 0) return cu_invalid_device;
  if (flags) *flags = 0;
  if (active) *active = 1;
  return cu_success;
}

int cuCtxGetCurrent(void** context) {
  *context = current_context ? current_context : primary_context();
  return cu_success;
}

int cuCtxSetCurrent(void* context) {
  current_context = context;
  return cu_success;
}

int cuCtxPushCurrent_v2(void* context) {
  if (context_depth < 16) context_stack[context_depth++] = current_context;
  current_context = context;
  return cu_success;
}

int cuCtxPopCurrent_v2(void** context) {
  if (context) *context = current_context ? current_context : primary_context();
  if (context_depth > 0) current_context = context_stack[--context_depth];
  return cu_success;
}

int cuCtxGetDevice(int* device) {
  *device = 0;
  return cu_success;
}

int cuCtxCreate_v2(void** context, unsigned, int device) {
  return cuDevicePrimaryCtxRetain(context, device);
}
int cuCtxDestroy_v2(void*) {
  return cu_success;
}

int cuCtxGetApiVersion(void*, unsigned* version) {
  *version = 3020;
  return cu_success;
}

int cuCtxGetFlags(unsigned* flags) {
  *flags = 0;
  return cu_success;
}

int cuCtxGetId(void*, unsigned long long* id) {
  *id = 1;
  return cu_success;
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return cu_success;
}

int cuCtxSynchronize() {
  const ApiScope scope(driver_api::ctx_synchronize);
  return to_cu(machine().synchronize_device("cuCtxSynchronize"));
}

}  // extern "C"
