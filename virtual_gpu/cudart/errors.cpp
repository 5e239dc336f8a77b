// SPDX-License-Identifier: Apache-2.0
// Error codes, their names and texts, and the last error of a thread.
#include <utility>

#include "virtual_gpu/cudart/cudart.hpp"

namespace ullage::vgpu {
namespace {

thread_local int last = 0;

struct Code {
  int value;
  const char* name;
  const char* text;
};

constexpr Code codes[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {3, "cudaErrorInitializationError", "initialization error"},
    {17, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {208, "cudaErrorAlreadyMapped", "resource already mapped"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {500, "cudaErrorSymbolNotFound", "named symbol not found"},
    {600, "cudaErrorNotReady", "device not ready"},
    {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    {801, "cudaErrorNotSupported", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {904, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {906, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
};

const Code* find(int value) {
  for (const auto& code : codes)
    if (code.value == value) return &code;
  return nullptr;
}

int code_of(Status status) {
  switch (status) {
    case Status::ok:
      return rt_success;
    case Status::out_of_memory:
      return rt_memory_allocation;
    case Status::invalid_value:
      return rt_invalid_value;
    case Status::invalid_handle:
      return 400;
    case Status::not_ready:
      return 600;
    case Status::not_permitted:
      return 900;
    case Status::capture_unjoined:
      return 904;
    case Status::capture_implicit:
      return 906;
    case Status::already_mapped:
      return 208;
  }
  return rt_invalid_value;
}

}  // namespace

int last_error(int code) {
  if (code != rt_success) last = code;
  return code;
}

int rt(Status status) {
  return last_error(code_of(status));
}

}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cudaGetLastError() {
  return std::exchange(last, 0);
}
int cudaPeekAtLastError() {
  return last;
}

const char* cudaGetErrorName(int code) {
  const Code* found = find(code);
  return found ? found->name : "unrecognized error code";
}

const char* cudaGetErrorString(int code) {
  const Code* found = find(code);
  return found ? found->text : "unrecognized error code";
}

}  // extern "C"
