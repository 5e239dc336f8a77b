// SPDX-License-Identifier: Apache-2.0
// cuBLAS: handles and their settings.
#include "virtual_gpu/cublas/context.hpp"

#include <cstddef>

using namespace ullage::vgpu;
using namespace ullage::vgpu::cublas;

namespace {

int set(void* handle, int Context::*field, int value) {
  return with_context(handle, [&](Context& context) { context.*field = value; });
}

int get(void* handle, int Context::*field, int* value) {
  if (value == nullptr) return invalid_value;
  return with_context(handle, [&](Context& context) { *value = context.*field; });
}

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  if (handle == nullptr) return invalid_value;
  *handle = handles<Context>().create();
  return success;
}

int cublasDestroy_v2(void* handle) {
  return handles<Context>().destroy(handle) ? success : not_initialized;
}

int cublasSetStream_v2(void* handle, void* stream) {
  return with_context(handle, [&](Context& context) { context.stream = stream; });
}

int cublasGetStream_v2(void* handle, void** stream) {
  if (stream == nullptr) return invalid_value;
  return with_context(handle, [&](Context& context) { *stream = context.stream; });
}

int cublasSetPointerMode_v2(void* handle, int mode) {
  return set(handle, &Context::pointer_mode, mode);
}
int cublasGetPointerMode_v2(void* handle, int* mode) {
  return get(handle, &Context::pointer_mode, mode);
}
int cublasSetAtomicsMode(void* handle, int mode) {
  return set(handle, &Context::atomics_mode, mode);
}
int cublasGetAtomicsMode(void* handle, int* mode) {
  return get(handle, &Context::atomics_mode, mode);
}
int cublasSetMathMode(void* handle, int mode) {
  return set(handle, &Context::math_mode, mode);
}
int cublasGetMathMode(void* handle, int* mode) {
  return get(handle, &Context::math_mode, mode);
}
int cublasSetSmCountTarget(void* handle, int count) {
  return set(handle, &Context::sm_count_target, count);
}
int cublasGetSmCountTarget(void* handle, int* count) {
  return get(handle, &Context::sm_count_target, count);
}

int cublasSetWorkspace_v2(void* handle, void* /*workspace*/, std::size_t /*bytes*/) {
  return with_context(handle, [](Context&) {});
}

int cublasGetVersion_v2(void* /*handle*/, int* value) {
  if (value == nullptr) return invalid_value;
  *value = version;
  return success;
}

int cublasGetProperty(int type, int* value) {
  if (value == nullptr || type < 0 || type > 2) return invalid_value;
  const int parts[] = {version / 10000, version / 100 % 100, version % 100};
  *value = parts[type];
  return success;
}

std::size_t cublasGetCudartVersion() {
  return 13000;
}

const char* cublasGetStatusName(int status) {
  switch (status) {
    case success:
      return "CUBLAS_STATUS_SUCCESS";
    case not_initialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case invalid_value:
      return "CUBLAS_STATUS_INVALID_VALUE";
    default:
      return "CUBLAS_STATUS_UNKNOWN";
  }
}

const char* cublasGetStatusString(int status) {
  return cublasGetStatusName(status);
}

}  // extern "C"
