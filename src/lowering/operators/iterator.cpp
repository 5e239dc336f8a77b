// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators/iterator.hpp"

#include <algorithm>
#include <numeric>

namespace ullage::lowering {
namespace {

Extents broadcast_sizes(std::span<const Tensor* const> inputs) {
  std::size_t count = 0;
  for (const Tensor* input : inputs) count = std::max(count, (*input)->sizes.count());
  Extents sizes;
  for (std::size_t i = 0; i < count; ++i) sizes.push(1);
  for (const Tensor* input : inputs) {
    const Extents& own = (*input)->sizes;
    const std::size_t shift = count - own.count();
    for (std::size_t i = 0; i < own.count(); ++i)
      if (own[i] != 1) sizes[shift + i] = own[i];
  }
  return sizes;
}

/// The stride of a dimension of the result in an input: 0 where it is broadcast.
std::int64_t stride_in(const TensorBody& input, const Extents& sizes, std::size_t dimension) {
  const std::size_t shift = sizes.count() - input.sizes.count();
  if (dimension < shift) return 0;
  const std::size_t own = dimension - shift;
  return input.sizes[own] == 1 && sizes[dimension] != 1 ? 0 : input.strides[own];
}

/// Whether `inner` (1) or `outer` (-1) should be further out, or nobody minds (0).
int should_swap(std::span<const Tensor* const> inputs, const Extents& sizes, std::size_t inner, std::size_t outer) {
  for (const Tensor* input : inputs) {
    const std::int64_t one = stride_in(**input, sizes, inner), other = stride_in(**input, sizes, outer);
    if (one == 0 || other == 0) continue;
    if (one < other) return -1;
    if (one > other) return 1;
    if (sizes[inner] > sizes[outer]) return 1;
  }
  return 0;
}

/// Dense strides for an order of the dimensions, the innermost first.
Extents strides_by(const std::array<std::size_t, 6>& order, const Extents& sizes) {
  Extents strides = sizes;
  std::int64_t step = 1;
  for (std::size_t i = 0; i < sizes.count(); ++i) {
    strides[order[i]] = step;
    step *= sizes[order[i]];
  }
  return strides;
}

Extents strides_in_order(std::span<const Tensor* const> inputs, const Extents& sizes) {
  const std::size_t count = sizes.count();
  std::array<std::size_t, 6> order{};  // the first is the innermost
  for (std::size_t i = 0; i < count; ++i) order[i] = count - 1 - i;
  for (std::size_t i = 1; i < count; ++i) {
    std::size_t moving = i;
    for (std::size_t j = i; j-- > 0;) {
      const int swap = should_swap(inputs, sizes, order[j], order[moving]);
      if (swap < 0) break;
      if (swap == 0) continue;
      std::swap(order[j], order[moving]);
      moving = j;
    }
  }
  return strides_by(order, sizes);
}

}  // namespace

Layout result_layout(std::span<const Tensor* const> inputs) {
  const Extents sizes = broadcast_sizes(inputs);
  const TensorBody& first = **inputs.front();
  const bool same_sizes = std::ranges::all_of(inputs, [&](const Tensor* input) { return (*input)->sizes == sizes; });
  if (same_sizes) {
    if (std::ranges::all_of(inputs, [](const Tensor* input) { return is_contiguous(**input); }))
      return {sizes, contiguous_strides(sizes)};
    if (is_dense(first) &&
        std::ranges::all_of(inputs, [&](const Tensor* input) { return (*input)->strides == first.strides; }))
      return {sizes, first.strides};
  }
  return {sizes, strides_in_order(inputs, sizes)};
}

Extents preserved_strides(const TensorBody& tensor) {
  if (is_dense(tensor)) return tensor.strides;
  std::array<std::size_t, 6> order{};  // the first is the innermost
  const std::size_t count = tensor.sizes.count();
  for (std::size_t i = 0; i < count; ++i) order[i] = count - 1 - i;
  std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                   [&](std::size_t a, std::size_t b) {
                     const std::int64_t left = tensor.strides[a], right = tensor.strides[b];
                     return left != 0 && right != 0 && left < right;
                   });
  return strides_by(order, tensor.sizes);
}

}  // namespace ullage::lowering
