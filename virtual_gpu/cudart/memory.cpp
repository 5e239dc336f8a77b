// SPDX-License-Identifier: Apache-2.0
// Memory, host memory, transfers.
#include <cstring>

#include "virtual_gpu/abi/runtime13.hpp"
#include "virtual_gpu/cudart/cudart.hpp"
#include "virtual_gpu/device/api_scope.hpp"

namespace ullage::vgpu {
namespace {

void* as_pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

int allocate(void** out, std::size_t bytes, MemoryKind kind) {
  Address address = 0;
  const Status status = machine().allocate(bytes, kind, &address);
  *out = as_pointer(address);
  return rt(status);
}

int copy(void* to, const void* from, std::size_t bytes, void* stream, bool blocking) {
  return rt(machine().copy(to, from, bytes, stream_id(stream), blocking));
}

int fill(void* to, int value, std::size_t bytes, void* stream) {
  return rt(machine().fill(to, static_cast<unsigned char>(value), 1, bytes, stream_id(stream)));
}

int copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
              std::size_t height, void* stream, bool blocking) {
  if (width == to_pitch && width == from_pitch) return copy(to, from, width * height, stream, blocking);
  for (std::size_t row = 0; row < height; ++row) {
    const int code = copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
                          width, stream, blocking);
    if (code != rt_success) return code;
  }
  return rt_success;
}

constexpr std::size_t pitch_unit = 512;

// cudaMemoryType
int memory_type(PointerInfo::Kind kind) {
  switch (kind) {
    case PointerInfo::Kind::host:
      return 1;
    case PointerInfo::Kind::device:
      return 2;
    case PointerInfo::Kind::managed:
      return 3;
    case PointerInfo::Kind::unregistered:
      return 0;
  }
  return 0;
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cudaMalloc(void** out, std::size_t bytes) {
  const ApiScope scope(runtime_api::malloc);
  return allocate(out, bytes, MemoryKind::device);
}
int cudaMallocAsync(void** out, std::size_t bytes, void*) {
  return allocate(out, bytes, MemoryKind::device);
}
int cudaMallocFromPoolAsync(void** out, std::size_t bytes, void*, void*) {
  return allocate(out, bytes, MemoryKind::device);
}
int cudaMallocManaged(void** out, std::size_t bytes, unsigned) {
  return allocate(out, bytes, MemoryKind::managed);
}

int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + pitch_unit - 1) / pitch_unit * pitch_unit;
  return allocate(out, *pitch * height, MemoryKind::device);
}

int cudaFree(void* pointer) {
  const ApiScope scope(runtime_api::free);
  return rt(machine().release(reinterpret_cast<Address>(pointer)));
}
int cudaFreeAsync(void* pointer, void*) {
  return cudaFree(pointer);
}

int cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const MemoryInfo info = machine().memory_info();
  *free_bytes = info.free_bytes;
  *total_bytes = info.total_bytes;
  return rt_success;
}

int cudaHostAlloc(void** out, std::size_t bytes, unsigned) {
  const ApiScope scope(runtime_api::host_alloc);
  return rt(machine().allocate_pinned(bytes, out));
}
int cudaMallocHost(void** out, std::size_t bytes) {
  const ApiScope scope(runtime_api::malloc_host);
  return cudaHostAlloc(out, bytes, 0);
}
int cudaFreeHost(void* pointer) {
  const ApiScope scope(runtime_api::free_host);
  return rt(machine().free_pinned(pointer));
}

int cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  const Status status = machine().register_host(pointer, bytes);
  return status == Status::already_mapped ? last_error(rt_host_already_registered) : rt(status);
}

int cudaHostUnregister(void* pointer) {
  return machine().unregister_host(pointer) == Status::ok ? int{rt_success} : last_error(rt_host_not_registered);
}

int cudaHostGetDevicePointer(void** out, void* pointer, unsigned) {
  *out = pointer;
  return rt_success;
}

int cudaPointerGetAttributes(ullage::abi::PointerAttributes* out, const void* pointer) {
  *out = {};
  const PointerInfo info = machine().pointer_info(pointer);
  out->type = memory_type(info.kind);
  out->device = info.kind == PointerInfo::Kind::unregistered ? -1 : 0;
  auto* address = const_cast<void*>(pointer);
  if (info.kind != PointerInfo::Kind::unregistered) out->device_pointer = address;
  if (info.kind != PointerInfo::Kind::device) out->host_pointer = address;
  return rt_success;
}

int cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  const ApiScope scope(runtime_api::memcpy);
  return copy(to, from, bytes, nullptr, true);
}
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, void* stream) {
  const ApiScope scope(runtime_api::memcpy_async);
  return copy(to, from, bytes, stream, false);
}
int cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return copy(to, from, bytes, nullptr, true);
}
int cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, void* stream) {
  const ApiScope scope(runtime_api::memcpy_peer_async);
  return copy(to, from, bytes, stream, false);
}
int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int) {
  const ApiScope scope(runtime_api::memcpy_2d);
  return copy_rows(to, to_pitch, from, from_pitch, width, height, nullptr, true);
}
int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, int, void* stream) {
  const ApiScope scope(runtime_api::memcpy_2d_async);
  return copy_rows(to, to_pitch, from, from_pitch, width, height, stream, false);
}
int cudaMemset(void* to, int value, std::size_t bytes) {
  const ApiScope scope(runtime_api::memset);
  return fill(to, value, bytes, nullptr);
}
int cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream) {
  const ApiScope scope(runtime_api::memset_async);
  return fill(to, value, bytes, stream);
}

// Constants and device variables of a library: device code never reads them, so nothing is moved.
int cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int) {
  return rt_success;
}
int cudaMemcpyToSymbolAsync(const void*, const void*, std::size_t, std::size_t, int, void*) {
  return rt_success;
}

int cudaMemcpyFromSymbol(void* to, const void*, std::size_t bytes, std::size_t, int) {
  std::memset(to, 0, bytes);
  return rt_success;
}

// Memory pools of the stream-ordered allocator: one default pool, which keeps nothing.
int cudaDeviceGetDefaultMemPool(void** pool, int) {
  *pool = reinterpret_cast<void*>(std::uintptr_t{0x7ab4'0000'0000});
  return rt_success;
}
int cudaDeviceGetMemPool(void** pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

int cudaMemPoolGetAttribute(void*, int attribute, void* value) {
  constexpr int first_64_bit = 4;  // release threshold and the counters; below are 4-byte switches
  std::memset(value, 0, attribute >= first_64_bit ? 8 : 4);
  return rt_success;
}

}  // extern "C"
