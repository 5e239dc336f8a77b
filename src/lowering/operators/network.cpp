// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators.hpp"
#include "lowering/operators/cub.hpp"
#include "lowering/operators/iterator.hpp"

#include <algorithm>

namespace ullage::lowering {
namespace {

// More rows than this are sorted first, which takes memory (EmbeddingBackwardKernel.cu).
constexpr std::int64_t most_unsorted_rows = 3072;

// Rows are sorted by their index; equal ones are summed in parts of at most 10 rows.
Tensor sorted_embedding_backward(Context& c, const Tensor& gradient, std::int64_t rows, const Extents& weight) {
  const auto indices = [&](std::int64_t count) { return c.make({count}, DType::int64); };
  const Tensor sorted = indices(rows), original = indices(rows);
  {
    const Tensor range = indices(rows);
    const Tensor sort = c.scratch(sort_bytes(c.device, rows));
  }
  Tensor result = c.make(weight, gradient->type);
  const Tensor offsets = indices(rows), segments = indices(1);
  {
    const Tensor values = indices(rows);
    const Tensor unique = c.scratch(unique_bytes(c.device, rows));
  }
  const std::int64_t most_segments = std::min(rows, weight[0]);
  const Tensor parts = indices(most_segments), part_offsets = indices(most_segments);
  { const Tensor scan = c.scratch(scan_bytes(most_segments)); }
  const std::int64_t most_parts = rows / 10 + most_segments;
  const Tensor count = indices(1), begins = indices(most_parts);
  const Tensor sums = c.make({most_parts, weight[1]}, DType::fp32);
  return result;
}

Tensor embedding_backward(Context& context, const Tensor& gradient, std::int64_t rows, const Extents& weight) {
  program::Operator& op = context.op("aten::embedding_dense_backward");
  op.work = program::Work::gather;
  // zeros, then a read and a write of each row that a token has
  op.bytes = 3 * static_cast<double>(gradient->bytes()) +
             static_cast<double>(weight.product()) * static_cast<double>(bytes_of(gradient->type));
  op.launches = rows > most_unsorted_rows ? 12 : 2;
  if (rows > most_unsorted_rows) return sorted_embedding_backward(context, gradient, rows, weight);
  return context.make(weight, gradient->type);
}

}  // namespace

Tensor embedding(Context& context, const Tensor& indices, const Tensor& weight) {
  Extents sizes = indices->sizes;
  sizes.push(weight->sizes[1]);
  const bool records = context.records({&weight});
  Saved saved = context.save(indices, records);
  program::Operator& op = context.op("aten::embedding");
  op.work = program::Work::gather;
  Tensor result = context.make(sizes, weight->type);
  op.bytes = 2.0 * static_cast<double>(result->bytes());
  if (!records) return result;
  context.attach("EmbeddingBackward0", result, {&weight},
                 [saved = std::move(saved), shape = weight->sizes](Context& c, Gradients& in, Gradients& out) {
                   const Tensor kept = saved.get(c);
                   out[0] = embedding_backward(c, in[0], kept->elements(), shape);
                 });
  return result;
}

Tensor layer_norm(Context& context, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Tensor wide_bias = bias, wide_weight = weight, wide = input;
  if (context.autocast.on) {
    wide_bias = bias ? cast(context, bias, DType::fp32) : bias;
    wide_weight = weight ? cast(context, weight, DType::fp32) : weight;
    wide = cast(context, input, DType::fp32);
  }
  const bool records = context.records({&wide, &wide_weight, &wide_bias});
  Saved saved_input = context.save(wide, records);
  Extents rows = wide->sizes;
  rows[rows.count() - 1] = 1;
  program::Operator& op = context.op("aten::native_layer_norm");
  op.work = program::Work::reduction;
  op.bytes = 2.0 * static_cast<double>(wide->bytes());
  Tensor result = context.make(wide->sizes, preserved_strides(*wide), wide->type);
  const Tensor mean = context.make(rows, DType::fp32), deviation = context.make(rows, DType::fp32);
  if (!records) return result;
  Saved saved_mean = context.save(mean), saved_deviation = context.save(deviation);
  context.attach("NativeLayerNormBackward0", result, {&wide, &wide_weight, &wide_bias},
                 [=](Context& c, Gradients&, Gradients& out) {
                   const Tensor x = saved_input.get(c), m = saved_mean.get(c), d = saved_deviation.get(c);
                   // the gradient and the input are read twice: for the input's gradient, and for the weight's
                   program::Operator& back =
                       note_written(c, "aten::native_layer_norm_backward", 5.0 * static_cast<double>(x->bytes()));
                   back.work = program::Work::reduction;
                   back.launches = 2;
                   out[0] = c.make(x->sizes, preserved_strides(*x), x->type);
                   if (wide_weight) out[1] = c.make(wide_weight->sizes, wide_weight->type);
                   if (wide_bias) out[2] = c.make(wide_bias->sizes, wide_bias->type);
                 });
  return result;
}

/// A kernel that goes over rows: an element for each of its inputs, as pointwise.
Tensor over_rows(Context& context, const char* name, std::initializer_list<const Tensor*> inputs, DType type) {
  Tensor result = pointwise(context, name, inputs, type);
  context.tape.last_operator().work = program::Work::reduction;
  return result;
}

Tensor softmax(Context& context, const Tensor& input, DType type) {
  // fused for fp16 alone; other types are widened first (SoftMax.cpp)
  const bool fused = input->type == DType::fp16 && type == DType::fp32;
  const Tensor wide = fused ? input : cast(context, input, type);
  const bool records = context.records({&wide});
  Tensor result = over_rows(context, "aten::_softmax", {&wide}, type);
  if (!records) return result;
  Saved saved = context.save(result);
  context.attach("SoftmaxBackward0", result, {&wide},
                 [saved = std::move(saved), from = wide->type](Context& c, Gradients& in, Gradients& out) {
                   const Tensor kept = saved.get(c);
                   out[0] = over_rows(c, "aten::_softmax_backward_data", {&in[0], &kept}, from);
                   // the kernel's input is gradient * result, made first
                   c.tape.last_operator().bytes += 2.0 * static_cast<double>(kept->bytes());
                   c.tape.last_operator().launches = 2;
                   const Tensor product = c.make(kept->sizes, kept->strides, kept->type);
                 });
  return result;
}

Tensor log_softmax(Context& context, const Tensor& input) {
  const bool records = context.records({&input});
  Tensor result = over_rows(context, "aten::_log_softmax", {&input}, input->type);
  if (!records) return result;
  Saved saved = context.save(result);
  context.attach("LogSoftmaxBackward0", result, {&input},
                 [saved = std::move(saved)](Context& c, Gradients& in, Gradients& out) {
                   const Tensor kept = saved.get(c);
                   out[0] = over_rows(c, "aten::_log_softmax_backward_data", {&in[0], &kept}, in[0]->type);
                 });
  return result;
}

Tensor nll_loss(Context& context, const Tensor& input, const Tensor& target) {
  const bool records = context.records({&input});
  Saved saved_input = context.save(input, records), saved_target = context.save(target, records);
  program::Operator& op = context.op("aten::nll_loss_forward");
  op.work = program::Work::gather;
  op.bytes = static_cast<double>(target->bytes()) +
             static_cast<double>(target->elements()) * static_cast<double>(bytes_of(input->type));
  Tensor loss = context.make({}, input->type);
  const Tensor weight = context.make({}, input->type);
  if (!records) return loss;
  Saved saved_weight = context.save(weight);
  context.attach("NllLossBackward0", loss, {&input}, [=](Context& c, Gradients&, Gradients& out) {
    const Tensor scores = saved_input.get(c), labels = saved_target.get(c), total = saved_weight.get(c);
    out[0] = pointwise(c, "aten::nll_loss_backward", {&scores}, scores->type);
    c.tape.last_operator().bytes = static_cast<double>(out[0]->bytes());  // zeros, and one for each row
    c.tape.last_operator().launches = 2;
  });
  return loss;
}

Tensor causal_loss(Context& context, Tensor logits, Tensor labels) {
  logits = cast(context, logits, DType::fp32);
  Extents padded = labels->sizes;
  padded[1] += 1;
  program::Operator& op = context.op("aten::constant_pad_nd");
  op.work = program::Work::copy;
  op.bytes = 2.0 * static_cast<double>(labels->bytes());
  op.launches = 2;
  labels = context.make(padded, DType::int64);
  Tensor shifted = context.alias(labels, {padded[0], padded[1] - 1}, labels->strides);
  shifted = contiguous(context, shifted);
  const std::int64_t tokens = shifted->elements();
  const Tensor rows = view(context, logits, {tokens, logits->sizes.back()});
  const Tensor flat = view(context, shifted, {tokens});
  const Tensor scores = log_softmax(context, rows);
  return nll_loss(context, scores, flat);
}

}  // namespace ullage::lowering
