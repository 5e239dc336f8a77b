// SPDX-License-Identifier: Apache-2.0
// The layout of a pointwise result: TensorIterator's rules (aten/src/ATen/TensorIterator.cpp).
#pragma once

#include "lowering/tensor.hpp"

#include <span>

namespace ullage::lowering {

struct Layout {
  Extents sizes, strides;
};

[[nodiscard]] Layout result_layout(std::span<const Tensor* const> inputs);

/// Dense strides in the order of a tensor's dimensions (memory_format=preserve_format, infer_dense_strides).
[[nodiscard]] Extents preserved_strides(const TensorBody& tensor);

}  // namespace ullage::lowering
