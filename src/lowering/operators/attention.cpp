// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators.hpp"
#include "lowering/operators/iterator.hpp"

#include <algorithm>

namespace ullage::lowering {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Sizes that every kernel of attention needs.
struct Shape {
  std::int64_t batch, heads, key_heads, queries, keys, width;
};

Shape shape_of(const Tensor& query, const Tensor& key) {
  return {query->sizes[0], query->sizes[1], key->sizes[1], query->sizes[2], key->sizes[2], query->sizes[3]};
}

/// FLOPs as torch.utils.flop_counter has them: two products, whatever is masked; five in the backward pass.
void note_attention(program::Operator& op, const Shape& shape, const Tensor& query, double products) {
  op.work = program::Work::attention;
  op.flops = products * 2.0 * static_cast<double>(shape.batch * shape.heads * shape.queries) * static_cast<double>(shape.keys * shape.width);
  op.bits = static_cast<std::uint8_t>(8 * bytes_of(query->type));
  op.tensor_cores = op.bits == 16;
  op.bytes = products * 2.0 * static_cast<double>(query->bytes());
}

// aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp
struct FlashSaved {
  Saved query, key, value, result, scores, seed, unused;
};

void flash_backward(Context& c, const Shape& shape, const FlashSaved& saved, Gradients& out) {
  const Tensor query = saved.query.get(c), key = saved.key.get(c), value = saved.value.get(c), result = saved.result.get(c),
               scores = saved.scores.get(c), seed = saved.seed.get(c), unused = saved.unused.get(c);
  note_attention(c.op("aten::_scaled_dot_product_flash_attention_backward"), shape, query, 5);
  out[0] = c.make(query->sizes, preserved_strides(*query), query->type);
  out[1] = c.make(key->sizes, preserved_strides(*key), key->type);
  out[2] = c.make(value->sizes, preserved_strides(*value), value->type);
  const std::int64_t rows = round_up(shape.queries, 128);
  const std::int64_t width = round_up(shape.width, shape.width <= 128 ? 32 : 64);
  const Tensor softmax_d = c.make({shape.batch, shape.heads, rows}, DType::fp32);
  const Tensor dq = c.make({shape.batch, rows, shape.heads, width}, DType::fp32);
  if (shape.key_heads == shape.heads) return;
  const Tensor dk = c.make({shape.batch, shape.keys, shape.heads, shape.width}, query->type);
  const Tensor dv = c.make({shape.batch, shape.keys, shape.heads, shape.width}, query->type);
}

Tensor flash_attention(Context& context, const Tensor& query, const Tensor& key, const Tensor& value) {
  const Shape shape = shape_of(query, key);
  const bool records = context.records({&query, &key, &value});
  FlashSaved saved{context.save(query, records), context.save(key, records), context.save(value, records), {}, {}, {}, {}};
  note_attention(context.op("aten::_scaled_dot_product_flash_attention"), shape, query, 2);
  const Extents& sizes = query->sizes;
  Tensor result = context.make(sizes, preserved_strides(*query), query->type);
  const Tensor scores = context.make({shape.batch, shape.heads, shape.queries}, DType::fp32);
  const Tensor seed = context.make({2}, DType::int64), unused = context.make({}, DType::int64);
  if (!records) return result;
  saved.result = context.save(result);
  saved.scores = context.save(scores);
  saved.seed = context.save(seed);
  saved.unused = context.save(unused);
  context.attach("ScaledDotProductFlashAttentionBackward0", result, {&query, &key, &value},
                 [saved, shape](Context& c, Gradients&, Gradients& out) { flash_backward(c, shape, saved, out); });
  return result;
}

/// repeat_interleave of the heads: a copy.
Tensor interleaved(Context& c, const Tensor& heads, std::int64_t times) {
  const Extents sizes = heads->sizes;
  const Tensor wide = expand(c, unsqueeze(c, heads, 2), {sizes[0], sizes[1], times, sizes[2], sizes[3]});
  return reshape(c, wide, {sizes[0], sizes[1] * times, sizes[2], sizes[3]});
}

/// Rows that are masked as a whole give 0, not a NaN: three temporaries.
Tensor safe_softmax(Context& c, const Tensor& scores) {
  Tensor result = softmax(c, scores, scores->type);
  const Tensor infinite = pointwise(c, "aten::isneginf", {&scores}, DType::boolean);
  Extents rows = scores->sizes;
  rows[rows.count() - 1] = 1;
  const Tensor masked = c.make(rows, DType::boolean);
  const Tensor zero = c.make({}, scores->type);
  return result;
}

Tensor lower_triangle(Context& c, const Shape& shape, DType type) {
  c.op("aten::tril");
  const Tensor triangle = [&] {
    const Tensor ones = c.make({shape.queries, shape.keys}, DType::boolean);
    return c.make({shape.queries, shape.keys}, DType::boolean);
  }();
  c.op("aten::where");
  const Tensor one = c.make({}, type), other = c.make({}, type);
  return c.make({shape.queries, shape.keys}, type);
}

// _scaled_dot_product_attention_math (aten/src/ATen/native/transformers/attention.cpp): what no fused kernel takes, half
// types in fp32
Tensor math_attention(Context& c, Tensor query, Tensor key, Tensor value) {
  const DType type = query->type;
  const Shape shape = shape_of(query, key);
  query = cast(c, query, DType::fp32);
  key = cast(c, key, DType::fp32);
  value = cast(c, value, DType::fp32);
  const Tensor scaled = mul_number(c, query);
  const Tensor mask = lower_triangle(c, shape, DType::fp32);
  if (shape.key_heads != shape.heads) {
    key = interleaved(c, key, shape.heads / shape.key_heads);
    value = interleaved(c, value, shape.heads / shape.key_heads);
  }
  Tensor weights;
  {
    const Tensor scaled_key = mul_number(c, transpose(c, key, 2, 3));
    const Tensor scores = matmul(c, scaled, scaled_key);
    in_place(c, "aten::add_", {&scores, &mask});
    weights = safe_softmax(c, scores);
  }
  return cast(c, matmul(c, weights, value), type);
}

}  // namespace

Tensor scaled_dot_product_attention(Context& context, Tensor query, Tensor key, Tensor value, const AttentionOptions&) {
  value = autocast(context, value);
  key = autocast(context, key);
  query = autocast(context, query);
  if (is_half(query->type) && context.device.compute_major >= 8) return flash_attention(context, query, key, value);
  return math_attention(context, query, key, value);
}

}  // namespace ullage::lowering
