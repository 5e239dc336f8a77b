// SPDX-License-Identifier: Apache-2.0
// cuDNN: handles, versions and texts.
#include "virtual_gpu/cudnn/context.hpp"

#include <cstddef>
#include <cstdlib>
#include <string_view>

using namespace ullage::vgpu;
using namespace ullage::vgpu::cudnn;

namespace ullage::vgpu::cudnn {

StreamId stream_of(const void* handle) {
  void* stream = nullptr;
  handles<Context>().with(handle, [&](Context& context) { stream = context.stream; });
  return stream_id(stream);
}

std::uint64_t bytes_to_ask(const WorkspaceRange& range) {
  static const char* const wanted = std::getenv("ULLAGE_CUDNN_WORKSPACES");
  const std::string_view end = wanted != nullptr ? wanted : "";
  return end == "low" ? range.low : end == "high" ? range.high : range.likely;
}

std::uint64_t element_bytes(int data_type) {
  switch (data_type) {
    case 0:
    case 4:
    case 19:
      return 4;  // float, int32, uint32
    case 1:
    case 10:
    case 20:
      return 8;  // double, int64, complex float
    case 2:
    case 9:
      return 2;  // half, bfloat16
    case 21:
      return 16;  // complex double
    default:
      return 1;
  }
}

}  // namespace ullage::vgpu::cudnn

namespace {

/// PyTorch refuses another major or a lower minor than the one it was compiled with.
std::size_t version() {
  const char* wanted = std::getenv("ULLAGE_CUDNN_VERSION");
  const long value = wanted != nullptr ? std::strtol(wanted, nullptr, 10) : 0;
  return value > 0 ? static_cast<std::size_t>(value) : 91900;
}

}  // namespace

extern "C" {

int cudnnCreate(void** handle) {
  if (handle == nullptr) return bad_param_null;
  *handle = handles<Context>().create();
  return success;
}

int cudnnDestroy(void* handle) {
  return handles<Context>().destroy(handle) ? success : not_initialized;
}

int cudnnSetStream(void* handle, void* stream) {
  const bool known = handles<Context>().with(handle, [&](Context& context) { context.stream = stream; });
  return known ? success : not_initialized;
}

int cudnnGetStream(void* handle, void** stream) {
  if (stream == nullptr) return bad_param_null;
  const bool known = handles<Context>().with(handle, [&](Context& context) { *stream = context.stream; });
  return known ? success : not_initialized;
}

std::size_t cudnnGetVersion() {
  return version();
}
std::size_t cudnnGetMaxDeviceVersion() {
  return 1300;
}
std::size_t cudnnGetCudartVersion() {
  return 13000;
}

int cudnnGetProperty(int type, int* value) {
  if (value == nullptr) return bad_param_null;
  const auto number = static_cast<int>(version());
  const int unit = number >= 90000 ? 10000 : 1000;  // version 8 counts in thousands
  switch (type) {
    case 0:
      *value = number / unit;
      return success;
    case 1:
      *value = number % unit / 100;
      return success;
    case 2:
      *value = number % 100;
      return success;
    default:
      return bad_param;
  }
}

const char* cudnnGetErrorString(int status) {
  switch (status) {
    case success:
      return "CUDNN_STATUS_SUCCESS";
    case not_initialized:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case bad_param:
      return "CUDNN_STATUS_BAD_PARAM";
    case bad_param_null:
      return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    default:
      return "CUDNN_STATUS_UNKNOWN";
  }
}

void cudnnGetLastErrorString(char* message, std::size_t bytes) {
  if (message != nullptr && bytes > 0) *message = '\0';
}

}  // extern "C"
