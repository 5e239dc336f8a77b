// SPDX-License-Identifier: Apache-2.0
// cuBLASLt: descriptors, layouts and preferences.
#include "virtual_gpu/cublaslt/descriptors.hpp"

#include <cstddef>
#include <cstring>
#include <new>

#include "virtual_gpu/device/machine.hpp"

using namespace ullage::vgpu::cublaslt;

namespace {

template <class T>
int create(T** out, const T& value) {
  if (out == nullptr) return invalid_value;
  *out = new T(value);
  return success;
}

template <class T>
int destroy(T* object) {
  delete object;
  return success;
}

template <class T>
int initialise(T* object, std::size_t bytes, const T& value) {
  if (object == nullptr || bytes < sizeof(T)) return invalid_value;
  new (object) T(value);
  return success;
}

struct Field {
  void* address = nullptr;
  std::size_t bytes = 0;
};

Field field_of(MatmulDesc* desc, int attribute) {
  if (attribute < 0 || attribute > 7) return {};
  return {&desc->fields[attribute], sizeof(std::int32_t)};
}

Field field_of(Layout* layout, int attribute) {
  const Field fields[] = {{&layout->type, 4},   {&layout->order, 4},   {&layout->rows, 8},
                          {&layout->cols, 8},   {&layout->leading, 8}, {&layout->batch, 4},
                          {&layout->stride, 8}, {&layout->plane, 8},   {&layout->batch_mode, 4}};
  return attribute >= 0 && attribute < 9 ? fields[attribute] : Field{};
}

Field field_of(Plain*, int) {
  return {};
}

template <class T>
int set(T* object, int attribute, const void* value, std::size_t bytes) {
  if (object == nullptr || value == nullptr) return invalid_value;
  const Field field = field_of(object, attribute);
  if (field.address == nullptr) return success;  // has no influence here
  if (bytes < field.bytes) return invalid_value;
  std::memcpy(field.address, value, field.bytes);
  return success;
}

template <class T>
int get(T* object, int attribute, void* value, std::size_t bytes, std::size_t* written) {
  if (object == nullptr) return invalid_value;
  const Field field = field_of(object, attribute);
  if (written != nullptr) *written = field.address != nullptr ? field.bytes : bytes;
  if (value == nullptr) return success;
  if (field.address == nullptr) {
    std::memset(value, 0, bytes);
    return success;
  }
  if (bytes < field.bytes) return invalid_value;
  std::memcpy(value, field.address, field.bytes);
  return success;
}

MatmulDesc matmul_desc(int compute, int scale) {
  MatmulDesc desc;
  desc.fields[0] = compute;
  desc.fields[1] = scale;
  return desc;
}

Layout layout(std::uint32_t type, std::uint64_t rows, std::uint64_t cols, std::int64_t leading) {
  Layout result;
  result.type = type;
  result.rows = rows;
  result.cols = cols;
  result.leading = leading;
  return result;
}

}  // namespace

extern "C" {

int cublasLtCreate(void** handle) {
  if (handle == nullptr) return invalid_value;
  *handle = reinterpret_cast<void*>(ullage_machine()->new_handle());
  return success;
}

int cublasLtDestroy(void* handle) {
  return handle != nullptr ? success : not_initialized;
}
std::size_t cublasLtGetVersion() {
  return 130100;
}
std::size_t cublasLtGetCudartVersion() {
  return 13000;
}

int cublasLtMatmulDescCreate(MatmulDesc** out, int compute, int scale) {
  return create(out, matmul_desc(compute, scale));
}
int cublasLtMatmulDescInit_internal(MatmulDesc* desc, std::size_t bytes, int compute, int scale) {
  return initialise(desc, bytes, matmul_desc(compute, scale));
}
int cublasLtMatmulDescDestroy(MatmulDesc* desc) {
  return destroy(desc);
}
int cublasLtMatmulDescSetAttribute(MatmulDesc* desc, int attribute, const void* value, std::size_t bytes) {
  return set(desc, attribute, value, bytes);
}
int cublasLtMatmulDescGetAttribute(MatmulDesc* desc, int attribute, void* value, std::size_t bytes,
                                   std::size_t* written) {
  return get(desc, attribute, value, bytes, written);
}

int cublasLtMatrixLayoutCreate(Layout** out, std::uint32_t type, std::uint64_t rows, std::uint64_t cols,
                               std::int64_t leading) {
  return create(out, layout(type, rows, cols, leading));
}
int cublasLtMatrixLayoutInit_internal(Layout* object, std::size_t bytes, std::uint32_t type, std::uint64_t rows,
                                      std::uint64_t cols, std::int64_t leading) {
  return initialise(object, bytes, layout(type, rows, cols, leading));
}
int cublasLtMatrixLayoutDestroy(Layout* object) {
  return destroy(object);
}
int cublasLtMatrixLayoutSetAttribute(Layout* object, int attribute, const void* value, std::size_t bytes) {
  return set(object, attribute, value, bytes);
}
int cublasLtMatrixLayoutGetAttribute(Layout* object, int attribute, void* value, std::size_t bytes,
                                     std::size_t* written) {
  return get(object, attribute, value, bytes, written);
}

int cublasLtMatmulPreferenceCreate(Plain** out) {
  return create(out, Plain{});
}
int cublasLtMatmulPreferenceInit_internal(Plain* object, std::size_t bytes) {
  return initialise(object, bytes, Plain{});
}
int cublasLtMatmulPreferenceDestroy(Plain* object) {
  return destroy(object);
}
int cublasLtMatmulPreferenceSetAttribute(Plain* object, int attribute, const void* value, std::size_t bytes) {
  return set(object, attribute, value, bytes);
}
int cublasLtMatmulPreferenceGetAttribute(Plain* object, int attribute, void* value, std::size_t bytes,
                                         std::size_t* written) {
  return get(object, attribute, value, bytes, written);
}

int cublasLtMatrixTransformDescCreate(Plain** out, int /*scale*/) {
  return create(out, Plain{});
}
int cublasLtMatrixTransformDescInit_internal(Plain* object, std::size_t bytes, int /*scale*/) {
  return initialise(object, bytes, Plain{});
}
int cublasLtMatrixTransformDescDestroy(Plain* object) {
  return destroy(object);
}
int cublasLtMatrixTransformDescSetAttribute(Plain* object, int attribute, const void* value, std::size_t bytes) {
  return set(object, attribute, value, bytes);
}

}  // extern "C"
