// SPDX-License-Identifier: Apache-2.0
// Result codes and their names.
#include <string_view>

#include "virtual_gpu/driver/driver.hpp"

namespace ullage::vgpu {

int to_cu(Status status) {
  switch (status) {
    case Status::ok:
      return cu_success;
    case Status::out_of_memory:
      return cu_out_of_memory;
    case Status::invalid_value:
      return cu_invalid_value;
    case Status::invalid_handle:
      return cu_invalid_handle;
    case Status::not_ready:
      return cu_not_ready;
    case Status::not_permitted:
      return cu_capture_unsupported;
    case Status::capture_unjoined:
      return cu_capture_unjoined;
    case Status::capture_implicit:
      return cu_capture_implicit;
    case Status::already_mapped:
      return cu_already_mapped;
  }
  return cu_invalid_value;
}

namespace {

struct Code {
  int value;
  const char* name;
  const char* text;
};

constexpr Code codes[] = {
    {cu_success, "CUDA_SUCCESS", "no error"},
    {cu_invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {cu_out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {cu_not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {cu_invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {cu_invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {cu_already_mapped, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    {cu_invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {cu_not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {cu_not_ready, "CUDA_ERROR_NOT_READY", "device not ready"},
    {cu_host_already_registered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {cu_host_not_registered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {cu_not_supported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {cu_capture_unsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {cu_capture_invalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {cu_capture_unjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {cu_capture_implicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
};

const Code* find(int value) {
  for (const auto& code : codes)
    if (code.value == value) return &code;
  return nullptr;
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cuGetErrorName(int error, const char** text) {
  const Code* code = find(error);
  *text = code ? code->name : nullptr;
  return code ? cu_success : cu_invalid_value;
}

int cuGetErrorString(int error, const char** text) {
  const Code* code = find(error);
  *text = code ? code->text : nullptr;
  return code ? cu_success : cu_invalid_value;
}

}  // extern "C"
