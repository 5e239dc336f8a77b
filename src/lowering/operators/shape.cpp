// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators.hpp"
#include "lowering/operators/iterator.hpp"

namespace ullage::lowering {
namespace {

Tensor copy(Context& context, const Tensor& tensor, const Extents& strides) {
  program::Operator& op = context.op("aten::clone");
  op.work = program::Work::copy;
  op.bytes = tensor->bytes_behind() + static_cast<double>(tensor->bytes());
  return context.make(tensor->sizes, strides, tensor->type);
}

/// A view with a node that brings the gradient back.
template <class Back>
Tensor seen_as(Context& context, const char* node, const Tensor& tensor, const Extents& sizes, const Extents& strides,
               Back back) {
  Tensor result = context.alias(tensor, sizes, strides);
  if (context.records({&tensor}))
    context.attach(node, result, {&tensor},
                   [back](Context& c, Gradients& in, Gradients& out) { out[0] = back(c, in[0]); });
  return result;
}

Tensor slice_backward(Context& context, const Tensor& gradient, const Extents& sizes) {
  Tensor whole = zeros(context, sizes, gradient->type);
  in_place(context, "aten::copy_", {&gradient});
  return whole;
}

}  // namespace

Tensor zeros(Context& context, const Extents& sizes, DType type) {
  program::Operator& op = context.op("aten::zeros");
  op.work = program::Work::pointwise;
  Tensor made = context.make(sizes, type);
  op.bytes = static_cast<double>(made->bytes());
  return made;
}

Tensor view(Context& context, const Tensor& tensor, const Extents& sizes) {
  Extents strides;
  (void)view_strides(*tensor, sizes, strides);
  return seen_as(context, "ViewBackward0", tensor, sizes, strides,
                 [before = tensor->sizes](Context& c, const Tensor& gradient) { return reshape(c, gradient, before); });
}

Tensor reshape(Context& context, const Tensor& tensor, const Extents& sizes) {
  Extents strides;
  if (view_strides(*tensor, sizes, strides)) return view(context, tensor, sizes);
  return unsafe_view(context, contiguous(context, tensor), sizes);
}

Tensor unsafe_view(Context& context, const Tensor& tensor, const Extents& sizes) {
  Tensor result = view(context, tensor, sizes);
  result->base = Tensor();
  return result;
}

Tensor transpose(Context& context, const Tensor& tensor, std::size_t left, std::size_t right) {
  Extents sizes = tensor->sizes, strides = tensor->strides;
  std::swap(sizes[left], sizes[right]);
  std::swap(strides[left], strides[right]);
  return seen_as(context, "TransposeBackward0", tensor, sizes, strides,
                 [left, right](Context& c, const Tensor& gradient) { return transpose(c, gradient, left, right); });
}

Tensor t(Context& context, const Tensor& tensor) {
  return transpose(context, tensor, 0, 1);
}

Tensor unsqueeze(Context& context, const Tensor& tensor, std::size_t dimension) {
  Extents sizes = tensor->sizes, strides = tensor->strides;
  const std::int64_t stride = dimension < sizes.count() ? sizes[dimension] * strides[dimension] : 1;
  sizes.insert(dimension, 1);
  strides.insert(dimension, stride);
  return seen_as(context, "UnsqueezeBackward0", tensor, sizes, strides,
                 [dimension](Context& c, const Tensor& gradient) {
                   Extents less = gradient->sizes, steps = gradient->strides;
                   less.erase(dimension);
                   steps.erase(dimension);
                   return c.alias(gradient, less, steps);
                 });
}

Tensor expand(Context& context, const Tensor& tensor, const Extents& sizes) {
  Extents strides = sizes;
  const std::size_t shift = sizes.count() - tensor->sizes.count();
  for (std::size_t i = 0; i < sizes.count(); ++i)
    strides[i] = i < shift || (tensor->sizes[i - shift] == 1 && sizes[i] != 1) ? 0 : tensor->strides[i - shift];
  return seen_as(context, "ExpandBackward0", tensor, sizes, strides,
                 [before = tensor->sizes](Context& c, const Tensor& gradient) { return sum_to(c, gradient, before); });
}

Tensor slice(Context& context, const Tensor& tensor, std::size_t dimension, std::int64_t length) {
  if (tensor->sizes[dimension] != length) return rest_of(context, tensor, dimension, length);
  return seen_as(context, "AliasBackward0", tensor, tensor->sizes, tensor->strides,
                 [](Context&, const Tensor& gradient) { return gradient; });
}

Tensor rest_of(Context& context, const Tensor& tensor, std::size_t dimension, std::int64_t length) {
  Extents sizes = tensor->sizes;
  sizes[dimension] = length;
  return seen_as(
      context, "SliceBackward0", tensor, sizes, tensor->strides,
      [before = tensor->sizes](Context& c, const Tensor& gradient) { return slice_backward(c, gradient, before); });
}

std::vector<Tensor> split(Context& context, const Tensor& tensor, std::size_t dimension,
                          const std::vector<std::int64_t>& lengths) {
  std::vector<Tensor> parts;
  for (const std::int64_t length : lengths) {
    Extents sizes = tensor->sizes;
    sizes[dimension] = length;
    parts.push_back(context.alias(tensor, sizes, tensor->strides));
  }
  if (!context.records({&tensor})) return parts;
  std::vector<Tensor*> outputs;
  for (Tensor& part : parts) outputs.push_back(&part);
  context.attach_all("SplitBackward0", outputs, {&tensor},
                     [dimension](Context& c, Gradients& in, Gradients& out) { out[0] = cat(c, in, dimension); });
  return parts;
}

Tensor clone_contiguous(Context& context, const Tensor& tensor) {
  return copy(context, tensor, contiguous_strides(tensor->sizes));
}

Tensor contiguous(Context& context, const Tensor& tensor) {
  if (is_contiguous(*tensor)) return tensor;
  Tensor result = clone_contiguous(context, tensor);
  if (context.records({&tensor}))
    context.attach("CloneBackward0", result, {&tensor},
                   [](Context&, Gradients& in, Gradients& out) { out[0] = in[0]; });
  return result;
}

Tensor cat(Context& context, const std::vector<Tensor>& tensors, std::size_t dimension) {
  Extents sizes = tensors.front()->sizes;
  sizes[dimension] = 0;
  for (const Tensor& tensor : tensors) sizes[dimension] += tensor->sizes[dimension];
  program::Operator& op = context.op("aten::cat");
  op.work = program::Work::copy;
  Tensor result = context.make(sizes, tensors.front()->type);
  op.bytes = 2.0 * static_cast<double>(result->bytes());
  std::vector<const Tensor*> inputs;
  bool records = false;
  for (const Tensor& tensor : tensors) {
    inputs.push_back(&tensor);
    records = records || context.records({&tensor});
  }
  if (!records) return result;
  std::vector<Extents> parts;
  for (const Tensor& tensor : tensors) parts.push_back(tensor->sizes);
  context.attach_all("CatBackward0", {&result}, inputs, [parts](Context& c, Gradients& in, Gradients& out) {
    for (std::size_t i = 0; i < parts.size(); ++i) out[i] = c.alias(in[0], parts[i], in[0]->strides);
  });
  return result;
}

}  // namespace ullage::lowering
