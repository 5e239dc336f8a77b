// SPDX-License-Identifier: Apache-2.0
// Memory: plain, virtual memory management, host, transfers, pointer attributes.
#include <cstring>

#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/driver/driver.hpp"

namespace ullage::vgpu {
namespace {

using DevicePointer = unsigned long long;

void* as_pointer(DevicePointer address) {
  return reinterpret_cast<void*>(address);
}

int copy(void* to, const void* from, std::size_t bytes, void* stream, bool blocking) {
  return to_cu(machine().copy(to, from, bytes, stream_id(stream), blocking));
}

// CU_POINTER_ATTRIBUTE_*
enum PointerAttribute {
  attr_context = 1,
  attr_memory_type = 2,
  attr_device_pointer = 3,
  attr_host_pointer = 4,
  attr_buffer_id = 7,
  attr_is_managed = 8,
  attr_device_ordinal = 9,
  attr_range_start = 11,
  attr_range_size = 12,
  attr_mapped = 13
};

constexpr unsigned memory_type_host = 1;
constexpr unsigned memory_type_device = 2;

int pointer_attribute(void* data, int attribute, DevicePointer address) {
  const PointerInfo info = machine().pointer_info(as_pointer(address));
  if (info.kind == PointerInfo::Kind::unregistered) return cu_invalid_value;
  const bool host = info.kind == PointerInfo::Kind::host;
  const auto put = [data](auto value) {
    std::memcpy(data, &value, sizeof(value));
    return int{cu_success};
  };
  switch (attribute) {
    case attr_context:
      return put(primary_context());
    case attr_memory_type:
      return put(host ? memory_type_host : memory_type_device);
    case attr_device_pointer:
      return put(address);
    case attr_host_pointer:
      return host ? put(address) : int{cu_invalid_value};
    case attr_buffer_id:
      return put(info.base);
    case attr_is_managed:
      return put(info.kind == PointerInfo::Kind::managed);
    case attr_device_ordinal:
      return put(0);
    case attr_range_start:
      return put(info.base);
    case attr_range_size:
      return put(info.bytes);
    case attr_mapped:
      return put(true);
    default:
      std::memset(data, 0, 4);
      return cu_success;
  }
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cuMemAlloc_v2(DevicePointer* out, std::size_t bytes) {
  if (bytes == 0) return cu_invalid_value;
  Address address = 0;
  const int result = to_cu(machine().allocate(bytes, MemoryKind::device, &address));
  *out = address;
  return result;
}

int cuMemAllocManaged(DevicePointer* out, std::size_t bytes, unsigned) {
  if (bytes == 0) return cu_invalid_value;
  Address address = 0;
  const int result = to_cu(machine().allocate(bytes, MemoryKind::managed, &address));
  *out = address;
  return result;
}

int cuMemAllocAsync(DevicePointer* out, std::size_t bytes, void*) {
  return cuMemAlloc_v2(out, bytes);
}
int cuMemFree_v2(DevicePointer address) {
  return to_cu(machine().release(address));
}
int cuMemFreeAsync(DevicePointer address, void*) {
  return cuMemFree_v2(address);
}

int cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  const MemoryInfo info = machine().memory_info();
  *free_bytes = info.free_bytes;
  *total_bytes = info.total_bytes;
  return cu_success;
}

int cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* bytes, DevicePointer address) {
  const PointerInfo info = machine().pointer_info(as_pointer(address));
  if (info.kind == PointerInfo::Kind::unregistered) return cu_not_found;
  if (base) *base = info.base;
  if (bytes) *bytes = info.bytes;
  return cu_success;
}

int cuMemGetAllocationGranularity(std::size_t* granularity, const void*, int) {
  *granularity = 2u << 20;
  return cu_success;
}

int cuMemAddressReserve(DevicePointer* out, std::size_t bytes, std::size_t alignment, DevicePointer,
                        unsigned long long) {
  Address address = 0;
  const int result = to_cu(machine().reserve_addresses(bytes, alignment, &address));
  *out = address;
  return result;
}

int cuMemAddressFree(DevicePointer address, std::size_t bytes) {
  return to_cu(machine().release_addresses(address, bytes));
}

int cuMemCreate(unsigned long long* handle, std::size_t bytes, const void*, unsigned long long) {
  std::uint64_t made = 0;
  const int result = to_cu(machine().create_physical(bytes, &made));
  *handle = made;
  return result;
}

int cuMemRelease(unsigned long long handle) {
  return to_cu(machine().release_physical(handle));
}

int cuMemMap(DevicePointer address, std::size_t bytes, std::size_t offset, unsigned long long handle,
             unsigned long long) {
  return to_cu(machine().map(address, bytes, offset, handle));
}

int cuMemUnmap(DevicePointer address, std::size_t bytes) {
  return to_cu(machine().unmap(address, bytes));
}
int cuMemSetAccess(DevicePointer, std::size_t, const void*, std::size_t) {
  return cu_success;
}

int cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  return to_cu(machine().allocate_pinned(bytes, out));
}
int cuMemAllocHost_v2(void** out, std::size_t bytes) {
  return cuMemHostAlloc(out, bytes, 0);
}
int cuMemFreeHost(void* pointer) {
  return to_cu(machine().free_pinned(pointer));
}

int cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned) {
  const Status status = machine().register_host(pointer, bytes);
  return status == Status::already_mapped ? int{cu_host_already_registered} : to_cu(status);
}

int cuMemHostUnregister(void* pointer) {
  return machine().unregister_host(pointer) == Status::ok ? cu_success : cu_host_not_registered;
}

int cuMemHostGetDevicePointer_v2(DevicePointer* out, void* pointer, unsigned) {
  *out = reinterpret_cast<DevicePointer>(pointer);
  return cu_success;
}

int cuMemcpy(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy(as_pointer(to), as_pointer(from), bytes, nullptr, true);
}
int cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t bytes, void* stream) {
  const ApiScope scope(driver_api::memcpy_async);
  return copy(as_pointer(to), as_pointer(from), bytes, stream, false);
}
int cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t bytes) {
  return copy(as_pointer(to), from, bytes, nullptr, true);
}
int cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t bytes) {
  return copy(to, as_pointer(from), bytes, nullptr, true);
}
int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return copy(as_pointer(to), as_pointer(from), bytes, nullptr, false);
}
int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, void* stream) {
  const ApiScope scope(driver_api::memcpy_htod_async);
  return copy(as_pointer(to), from, bytes, stream, false);
}
int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, void* stream) {
  const ApiScope scope(driver_api::memcpy_dtoh_async);
  return copy(to, as_pointer(from), bytes, stream, false);
}
int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, void* stream) {
  const ApiScope scope(driver_api::memcpy_dtod_async);
  return copy(as_pointer(to), as_pointer(from), bytes, stream, false);
}

int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, void* stream) {
  const ApiScope scope(driver_api::memset_d8_async);
  return to_cu(machine().fill(as_pointer(to), value, 1, count, stream_id(stream)));
}
int cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, void* stream) {
  const ApiScope scope(driver_api::memset_d16_async);
  return to_cu(machine().fill(as_pointer(to), value, 2, count, stream_id(stream)));
}
int cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, void* stream) {
  const ApiScope scope(driver_api::memset_d32_async);
  return to_cu(machine().fill(as_pointer(to), value, 4, count, stream_id(stream)));
}
int cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t count) {
  return cuMemsetD8Async(to, value, count, nullptr);
}
int cuMemsetD16_v2(DevicePointer to, unsigned short value, std::size_t count) {
  return cuMemsetD16Async(to, value, count, nullptr);
}
int cuMemsetD32_v2(DevicePointer to, unsigned value, std::size_t count) {
  return cuMemsetD32Async(to, value, count, nullptr);
}

int cuPointerGetAttribute(void* data, int attribute, DevicePointer address) {
  return pointer_attribute(data, attribute, address);
}

int cuPointerGetAttributes(unsigned count, int* attributes, void** data, DevicePointer address) {
  for (unsigned i = 0; i < count; ++i)
    if (pointer_attribute(data[i], attributes[i], address) != cu_success) std::memset(data[i], 0, 4);
  return cu_success;
}

}  // extern "C"
