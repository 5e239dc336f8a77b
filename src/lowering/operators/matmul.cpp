// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators.hpp"

namespace ullage::lowering {
namespace {

void note_product(const Context& context, program::Operator& op, const Tensor& left, const Tensor& right,
                  const Tensor& result) {
  const std::size_t last = left->sizes.count() - 1;
  op.work = program::Work::matmul;
  op.batch = last == 2 ? static_cast<std::uint64_t>(left->sizes[0]) : 1;
  op.m = static_cast<std::uint64_t>(left->sizes[last - 1]);
  op.k = static_cast<std::uint64_t>(left->sizes[last]);
  op.n = static_cast<std::uint64_t>(right->sizes[last]);
  op.flops = 2.0 * static_cast<double>(op.batch) * static_cast<double>(op.m) * static_cast<double>(op.n) *
             static_cast<double>(op.k);
  op.bytes = static_cast<double>(left->bytes() + right->bytes() + result->bytes());
  op.bits = static_cast<std::uint8_t>(8 * bytes_of(left->type));
  op.tensor_cores = op.bits == 16 || context.tf32;
}

/// mm or bmm: the result first, then the handle with its workspace.
Tensor product(Context& context, const char* name, const Tensor& left, const Tensor& right) {
  Extents sizes = left->sizes;
  sizes[sizes.count() - 1] = right->sizes.back();
  program::Operator& op = context.op(name);
  Tensor result = context.make(sizes, left->type);
  note_product(context, op, left, right, result);
  context.need_cublas();
  return result;
}

bool is_column_major(const Extents& sizes, const Extents& strides) {
  return strides[0] == 1 && strides[1] == sizes[0];
}

Tensor transposed(Context& context, const Tensor& tensor) {
  const std::size_t last = tensor->sizes.count() - 1;
  return transpose(context, tensor, last - 1, last);
}

// The gradient of a weight comes out in the weight's own layout (mm_mat2_backward, mm_mat1_backward).
Tensor right_gradient(Context& context, const Tensor& gradient, const Tensor& left, bool column_major) {
  if (column_major) return t(context, product(context, "aten::mm", t(context, gradient), left));
  return product(context, "aten::mm", t(context, left), gradient);
}

Tensor left_gradient(Context& context, const Tensor& gradient, const Tensor& right, bool column_major) {
  if (column_major) return t(context, product(context, "aten::mm", right, t(context, gradient)));
  return product(context, "aten::mm", gradient, t(context, right));
}

/// The operands of a product as its backward pass needs them.
struct Factors {
  bool wants_left = false, wants_right = false;
  Saved left, right;  ///< each for the other's gradient
  bool left_columns = false, right_columns = false;
};

Factors factors_of(Context& context, const Tensor& left, const Tensor& right, bool records) {
  Factors factors;
  factors.wants_left = needs_gradient(left), factors.wants_right = needs_gradient(right);
  factors.right = context.save(right, records && factors.wants_left);
  factors.left = context.save(left, records && factors.wants_right);
  factors.left_columns = is_column_major(left->sizes, left->strides);
  factors.right_columns = is_column_major(right->sizes, right->strides);
  return factors;
}

/// addmm of a bias with one dimension.
Tensor addmm(Context& context, const Tensor& bias, const Tensor& left, const Tensor& right) {
  const bool records = context.records({&bias, &left, &right});
  const Factors factors = factors_of(context, left, right, records);
  Tensor result = product(context, "aten::addmm", left, right);
  context.need_cublas_lt();
  if (!records) return result;
  context.attach("AddmmBackward0", result, {&bias, &left, &right},
                 [=, wants_bias = needs_gradient(bias)](Context& c, Gradients& in, Gradients& out) {
                   const Tensor one = factors.left.get(c), other = factors.right.get(c);
                   if (factors.wants_left) out[1] = left_gradient(c, in[0], other, factors.left_columns);
                   if (factors.wants_right) out[2] = right_gradient(c, in[0], one, factors.right_columns);
                   if (wants_bias) out[0] = in[0];
                 });
  return result;
}

Tensor bmm(Context& context, const Tensor& left, const Tensor& right) {
  const bool records = context.records({&left, &right});
  const Factors factors = factors_of(context, left, right, records);
  Tensor result = product(context, "aten::bmm", left, right);
  if (!records) return result;
  context.attach("BmmBackward0", result, {&left, &right}, [=](Context& c, Gradients& in, Gradients& out) {
    const Tensor other = factors.right.get(c), one = factors.left.get(c);
    if (factors.wants_right) out[1] = product(c, "aten::bmm", transposed(c, one), in[0]);
    if (factors.wants_left) out[0] = product(c, "aten::bmm", in[0], transposed(c, other));
  });
  return result;
}

Extents with_last(Extents sizes, std::int64_t last) {
  sizes[sizes.count() - 1] = last;
  return sizes;
}

Tensor folded(Context& context, const Tensor& tensor) {
  if (tensor->sizes.count() == 2) return tensor;
  return reshape(context, tensor, {tensor->elements() / tensor->sizes.back(), tensor->sizes.back()});
}

}  // namespace

Tensor mm(Context& context, const Tensor& left, const Tensor& right) {
  const bool records = context.records({&left, &right});
  const Factors factors = factors_of(context, left, right, records);
  Tensor result = product(context, "aten::mm", left, right);
  if (!records) return result;
  context.attach("MmBackward0", result, {&left, &right}, [=](Context& c, Gradients& in, Gradients& out) {
    const Tensor other = factors.right.get(c), one = factors.left.get(c);
    if (factors.wants_right) out[1] = right_gradient(c, in[0], one, factors.right_columns);
    if (factors.wants_left) out[0] = left_gradient(c, in[0], other, factors.left_columns);
  });
  return result;
}

Tensor autocast(Context& context, const Tensor& tensor) {
  Autocast& mode = context.autocast;
  if (!mode.on || !tensor || !is_floating(tensor->type) || tensor->type == mode.type) return tensor;
  const bool is_trained_leaf = tensor->type == DType::fp32 && tensor->requires_grad && !tensor->base;
  if (!is_trained_leaf) return cast(context, tensor, mode.type);
  const auto [known, is_new] = mode.copy_of.try_emplace(tensor.get(), mode.copies.size());
  if (is_new) mode.copies.push_back(cast(context, tensor, mode.type));
  return mode.copies[known->second];
}

Tensor linear(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor low_bias = autocast(context, bias);
  const Tensor low_weight = autocast(context, weight);
  const Tensor low_input = autocast(context, input);
  const Extents sizes = with_last(input->sizes, weight->sizes[0]);
  if (bias) {
    const Tensor rows = folded(context, low_input);
    return view(context, addmm(context, low_bias, rows, t(context, low_weight)), sizes);
  }
  const Tensor columns = t(context, low_weight);
  const Tensor rows = folded(context, low_input);
  return unsafe_view(context, mm(context, rows, columns), sizes);
}

Tensor conv1d(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor rows = view(context, input, {input->elements() / input->sizes.back(), input->sizes.back()});
  const Tensor low_weight = autocast(context, weight);
  const Tensor low_rows = autocast(context, rows);
  const Tensor low_bias = autocast(context, bias);
  return view(context, addmm(context, low_bias, low_rows, low_weight), with_last(input->sizes, weight->sizes[1]));
}

Tensor matmul(Context& context, const Tensor& left, const Tensor& right) {
  const Tensor low_right = autocast(context, right), low_left = autocast(context, left);
  const auto flat = [&](const Tensor& tensor) {
    const Extents& sizes = tensor->sizes;
    return reshape(context, tensor, {sizes[0] * sizes[1], sizes[2], sizes[3]});
  };
  const Tensor flat_left = flat(low_left), flat_right = flat(low_right);
  return unsafe_view(context, bmm(context, flat_left, flat_right), with_last(left->sizes, right->sizes.back()));
}

}  // namespace ullage::lowering
