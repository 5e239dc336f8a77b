// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/cudnn/tensors.hpp"

#include <algorithm>
#include <cstddef>

using namespace ullage::vgpu;
using namespace ullage::vgpu::cudnn;

namespace {

std::uint64_t product(const std::vector<int>& dimensions) {
  std::uint64_t result = dimensions.empty() ? 0 : 1;
  for (const int length : dimensions) result *= length > 0 ? static_cast<std::uint64_t>(length) : 0;
  return result;
}

std::vector<int> packed_strides(const std::vector<int>& dimensions) {
  std::vector<int> strides(dimensions.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  return strides;
}

void copy_out(const std::vector<int>& from, int requested, int* to) {
  if (to == nullptr) return;
  std::copy_n(from.begin(), std::min(from.size(), static_cast<std::size_t>(std::max(requested, 0))), to);
}

template <class State>
int create(void** out) {
  if (out == nullptr) return bad_param_null;
  *out = handles<State>().create();
  return success;
}

template <class State>
int set(void* handle, State state) {
  return handles<State>().with(handle, [&](State& found) { found = std::move(state); }) ? success : bad_param;
}

int size_in_bytes(std::uint64_t elements, int data_type, std::size_t* bytes) {
  if (bytes == nullptr) return bad_param_null;
  *bytes = elements * element_bytes(data_type);
  return success;
}

}  // namespace

namespace ullage::vgpu::cudnn {

std::uint64_t Tensor::elements() const {
  return product(dimensions);
}
std::uint64_t Filter::elements() const {
  return product(dimensions);
}

Tensor tensor(const void* handle) {
  Tensor result;
  handles<Tensor>().with(handle, [&](Tensor& found) { result = found; });
  return result;
}

Filter filter(const void* handle) {
  Filter result;
  handles<Filter>().with(handle, [&](Filter& found) { result = found; });
  return result;
}

}  // namespace ullage::vgpu::cudnn

extern "C" {

int cudnnCreateTensorDescriptor(void** out) {
  return create<Tensor>(out);
}
int cudnnDestroyTensorDescriptor(void* handle) {
  return handles<Tensor>().destroy(handle) ? success : bad_param;
}
int cudnnCreateFilterDescriptor(void** out) {
  return create<Filter>(out);
}
int cudnnDestroyFilterDescriptor(void* handle) {
  return handles<Filter>().destroy(handle) ? success : bad_param;
}

int cudnnSetTensorNdDescriptor(void* handle, int data_type, int rank, const int* dimensions, const int* strides) {
  if (rank < 1 || dimensions == nullptr || strides == nullptr) return bad_param;
  return set(handle, Tensor{data_type, {dimensions, dimensions + rank}, {strides, strides + rank}});
}

int cudnnSetTensorNdDescriptorEx(void* handle, int /*format*/, int data_type, int rank, const int* dimensions) {
  if (rank < 1 || dimensions == nullptr) return bad_param;
  const std::vector<int> lengths(dimensions, dimensions + rank);
  return set(handle, Tensor{data_type, lengths, packed_strides(lengths)});
}

int cudnnSetTensor4dDescriptor(void* handle, int /*format*/, int data_type, int n, int c, int h, int w) {
  const std::vector<int> lengths{n, c, h, w};
  return set(handle, Tensor{data_type, lengths, packed_strides(lengths)});
}

int cudnnGetTensorNdDescriptor(void* handle, int requested, int* data_type, int* rank, int* dimensions, int* strides) {
  const bool known = handles<Tensor>().with(handle, [&](Tensor& found) {
    if (data_type != nullptr) *data_type = found.data_type;
    if (rank != nullptr) *rank = static_cast<int>(found.dimensions.size());
    copy_out(found.dimensions, requested, dimensions);
    copy_out(found.strides, requested, strides);
  });
  return known ? success : bad_param;
}

int cudnnGetTensorSizeInBytes(void* handle, std::size_t* bytes) {
  const Tensor found = tensor(handle);
  return size_in_bytes(found.elements(), found.data_type, bytes);
}

int cudnnSetFilterNdDescriptor(void* handle, int data_type, int format, int rank, const int* dimensions) {
  if (rank < 1 || dimensions == nullptr) return bad_param;
  return set(handle, Filter{data_type, format, {dimensions, dimensions + rank}});
}

int cudnnGetFilterNdDescriptor(void* handle, int requested, int* data_type, int* format, int* rank, int* dimensions) {
  const bool known = handles<Filter>().with(handle, [&](Filter& found) {
    if (data_type != nullptr) *data_type = found.data_type;
    if (format != nullptr) *format = found.format;
    if (rank != nullptr) *rank = static_cast<int>(found.dimensions.size());
    copy_out(found.dimensions, requested, dimensions);
  });
  return known ? success : bad_param;
}

int cudnnGetFilterSizeInBytes(void* handle, std::size_t* bytes) {
  const Filter found = filter(handle);
  return size_in_bytes(found.elements(), found.data_type, bytes);
}

}  // extern "C"
