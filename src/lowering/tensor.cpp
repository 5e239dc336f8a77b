// SPDX-License-Identifier: Apache-2.0
#include "lowering/tensor.hpp"

#include "lowering/graph.hpp"

#include <algorithm>
#include <vector>

namespace ullage::lowering {

std::uint64_t bytes_of(DType type) {
  switch (type) {
    case DType::fp32:
    case DType::int32:
      return 4;
    case DType::bf16:
    case DType::fp16:
      return 2;
    case DType::int64:
      return 8;
    case DType::boolean:
      return 1;
  }
  return 4;
}

void Extents::erase(std::size_t index) {
  std::copy(values_.begin() + static_cast<std::ptrdiff_t>(index) + 1, values_.begin() + count_,
            values_.begin() + static_cast<std::ptrdiff_t>(index));
  --count_;
}

void Extents::insert(std::size_t index, Value value) {
  std::copy_backward(values_.begin() + static_cast<std::ptrdiff_t>(index), values_.begin() + count_,
                     values_.begin() + count_ + 1);
  values_[index] = value;
  ++count_;
}

Extents::Value Extents::product() const {
  constexpr Value most = Value{1} << 50;  // more than any memory, and safe to multiply by a width
  Value product = 1;
  for (const Value value : *this)
    if (__builtin_mul_overflow(product, value, &product) || product > most) product = most;
  return product;
}

bool Extents::operator==(const Extents& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

TensorBody::TensorBody() = default;
TensorBody::~TensorBody() = default;

Extents contiguous_strides(const Extents& sizes) {
  Extents strides = sizes;
  std::int64_t step = 1;
  for (std::size_t i = sizes.count(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

double TensorBody::bytes_behind() const {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < sizes.count(); ++i)
    if (strides[i] != 0) elements *= sizes[i];
  return static_cast<double>(elements) * static_cast<double>(bytes_of(type));
}

bool is_contiguous(const TensorBody& tensor) {
  std::int64_t step = 1;
  for (std::size_t i = tensor.sizes.count(); i-- > 0;) {
    if (tensor.sizes[i] == 1) continue;
    if (tensor.strides[i] != step) return false;
    step *= tensor.sizes[i];
  }
  return true;
}

// In the order of their strides, every dimension must begin where the one before ends.
bool is_dense(const TensorBody& tensor) {
  std::int64_t step = 1;
  for (std::size_t found = 0; found < tensor.sizes.count(); ++found) {
    bool went_on = false;
    for (std::size_t i = 0; i < tensor.sizes.count() && !went_on; ++i) {
      went_on = tensor.sizes[i] != 1 && tensor.strides[i] == step;
      if (went_on) step *= tensor.sizes[i];
    }
    if (!went_on) break;
  }
  return step == tensor.elements();
}

// Runs of dimensions whose strides follow from each other are one dimension in memory; the new sizes must split such
// runs and cross none (at::detail::computeStride).
bool view_strides(const TensorBody& tensor, const Extents& sizes, Extents& strides) {
  strides = sizes;
  if (tensor.elements() == 0 || tensor.sizes == sizes) {
    strides = tensor.sizes == sizes ? tensor.strides : contiguous_strides(sizes);
    return true;
  }
  auto view = static_cast<std::ptrdiff_t>(sizes.count()) - 1;
  const auto at = [](std::ptrdiff_t index) { return static_cast<std::size_t>(index); };
  std::int64_t run_stride = tensor.strides.count() ? tensor.strides.back() : 1;
  std::int64_t run = 1, seen = 1;
  for (auto dimension = static_cast<std::ptrdiff_t>(tensor.sizes.count()) - 1; dimension >= 0; --dimension) {
    run *= tensor.sizes[at(dimension)];
    const bool ends = dimension == 0 ||
                      (tensor.sizes[at(dimension - 1)] != 1 && tensor.strides[at(dimension - 1)] != run * run_stride);
    if (!ends) continue;
    while (view >= 0 && (seen < run || sizes[at(view)] == 1)) {
      strides[at(view)] = seen * run_stride;
      seen *= sizes[at(view)];
      --view;
    }
    if (seen != run) return false;
    if (dimension > 0) {
      run_stride = tensor.strides[at(dimension - 1)];
      run = seen = 1;
    }
  }
  return view == -1;
}

}  // namespace ullage::lowering
