// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators.hpp"
#include "lowering/operators/arithmetic.hpp"
#include "lowering/operators/iterator.hpp"

#include <algorithm>
#include <cmath>

namespace ullage::lowering {
namespace {

/// Sizes that every kernel of attention needs.
struct Shape {
  std::int64_t batch, heads, key_heads, queries, keys, width;
};

Shape shape_of(const Tensor& query, const Tensor& key) {
  return {query->sizes[0], query->sizes[1], key->sizes[1], query->sizes[2], key->sizes[2], query->sizes[3]};
}

enum class Pass : std::uint8_t { forward, backward };

/// FLOPs as torch.utils.flop_counter has them: two products, whatever is masked; five in the backward pass. Bytes:
/// query and result, key and value, each row's logarithm of a sum; in the backward pass also the gradients of all of
/// them, the query's summed in fp32 first.
void note_attention(program::Operator& op, const Shape& shape, const Tensor& query, Pass pass, bool causal = true) {
  const bool backward = pass == Pass::backward;
  const double products = backward ? 5 : 2;
  op.work = program::Work::attention;
  op.flops = products * 2.0 * static_cast<double>(shape.batch * shape.heads * shape.queries) *
             static_cast<double>(shape.keys * shape.width);
  op.bits = static_cast<std::uint8_t>(8 * bytes_of(query->type));
  op.tensor_cores = op.bits == 16;
  op.causal = causal;
  const auto heads = static_cast<double>(query->bytes());
  const double shared =
      heads / static_cast<double>(shape.queries * shape.heads) * static_cast<double>(shape.keys * shape.key_heads);
  const double sums = 4.0 * static_cast<double>(shape.batch * shape.heads * shape.queries);
  op.bytes = 2 * (heads + shared) + sums;
  if (backward) op.bytes += 2 * (heads + shared) + sums + 2 * sums * static_cast<double>(shape.width);
  op.launches = backward ? 3 : 1;
}

/// A new tensor of [batch, tokens, heads, width] as [batch, heads, tokens, width].
Tensor as_heads(Context& c, const Tensor& made) {
  Extents sizes = made->sizes, strides = made->strides;
  std::swap(sizes[1], sizes[2]);
  std::swap(strides[1], strides[2]);
  Tensor seen = c.alias(made, sizes, strides);
  seen->base = Tensor();
  return seen;
}

// aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp
struct FlashSaved {
  Saved query, key, value, result, scores, seed, unused;
};

/// The width of a head as the kernels' sums have it.
std::int64_t rounded_width(const Shape& shape) {
  return round_up(shape.width, shape.width <= 128 ? 32 : 64);
}

void flash_backward(Context& c, const Shape& shape, const FlashSaved& saved, const Tensor& gradient, Gradients& out) {
  const Tensor query = saved.query.get(c), key = saved.key.get(c), value = saved.value.get(c),
               result = saved.result.get(c), scores = saved.scores.get(c), seed = saved.seed.get(c),
               unused = saved.unused.get(c);
  note_attention(c.op("aten::_scaled_dot_product_flash_attention_backward"), shape, query, Pass::backward);
  // the kernel wants both as [batch, tokens, heads, width]
  const Tensor whole_gradient = contiguous(c, transpose(c, gradient, 1, 2)),
               whole_result = contiguous(c, transpose(c, result, 1, 2));
  out[0] = c.make(query->sizes, preserved_strides(*query), query->type);
  out[1] = c.make(key->sizes, preserved_strides(*key), key->type);
  out[2] = c.make(value->sizes, preserved_strides(*value), value->type);
  const std::int64_t rows = round_up(shape.queries, 128);
  const std::int64_t width = rounded_width(shape);
  const Tensor softmax_d = c.make({shape.batch, shape.heads, rows}, DType::fp32);
  const Tensor dq = c.make({shape.batch, rows, shape.heads, width}, DType::fp32);
  if (shape.key_heads == shape.heads) return;
  const Tensor dk = c.make({shape.batch, shape.keys, shape.heads, shape.width}, query->type);
  const Tensor dv = c.make({shape.batch, shape.keys, shape.heads, shape.width}, query->type);
}

/// Parts into which the keys are split so that few queries fill the device (num_splits_heuristic of flash_api.cpp).
/// Of batch, heads, queries, keys, width.
std::int64_t splits_of(const DeviceFacts& device, const QuestionSizes& sizes) {
  const auto [batch, heads, queries, keys, width] = sizes;
  const std::int64_t block = width <= 64 ? 256 : width <= 128 ? 128 : 64;
  const std::int64_t blocks = divide_up(keys, block), slots = 2 * device.multiprocessors;
  const std::int64_t work = batch * heads * divide_up(queries, 64);
  if (static_cast<float>(work) >= 0.8F * static_cast<float>(slots)) return 1;
  const std::int64_t most = std::min<std::int64_t>({128, slots, blocks});
  const auto efficiency = [&](std::int64_t splits) {
    if (splits > 1 && divide_up(blocks, splits) == divide_up(blocks, splits - 1)) return 0.0F;
    const float waves = static_cast<float>(work * splits) / static_cast<float>(slots);
    return waves / std::ceil(waves);
  };
  float best = 0;
  for (std::int64_t splits = 1; splits <= most; ++splits) best = std::max(best, efficiency(splits));
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (efficiency(splits) > 0 && static_cast<double>(efficiency(splits)) >= 0.85 * static_cast<double>(best))
      return splits;
  return 1;
}

Tensor flash_attention(Context& context, const Tensor& query, const Tensor& key, const Tensor& value, bool drops) {
  const Shape shape = shape_of(query, key);
  const bool records = context.records({&query, &key, &value});
  FlashSaved saved{
      context.save(query, records), context.save(key, records), context.save(value, records), {}, {}, {}, {}};
  note_attention(context.op("aten::_scaled_dot_product_flash_attention"), shape, query, Pass::forward);
  const Extents& sizes = query->sizes;
  Tensor result = context.make(sizes, preserved_strides(*query), query->type);
  const Tensor scores = context.make({shape.batch, shape.heads, shape.queries}, DType::fp32);
  const std::int64_t splits =
      drops ? 1
            : context.answers.ask(context.device, splits_of,
                                  {shape.batch, shape.heads, shape.queries, shape.keys, shape.width});
  const std::int64_t parts = splits > 1 ? splits : 0;
  const Tensor partial_scores = context.make({parts, shape.batch, shape.heads, shape.queries}, DType::fp32);
  const Tensor partial_results =
      context.make({parts, shape.batch, shape.heads, shape.queries, rounded_width(shape)}, DType::fp32);
  Tensor seed = context.make({2}, DType::int64);
  const Tensor unused = context.make({}, DType::int64);
  if (drops) seed = context.make({2}, DType::int64);
  if (!records) return result;
  saved.result = context.save(result);
  saved.scores = context.save(scores);
  saved.seed = context.save(seed);
  saved.unused = context.save(unused);
  context.attach(
      "ScaledDotProductFlashAttentionBackward0", result, {&query, &key, &value},
      [saved, shape](Context& c, Gradients& in, Gradients& out) { flash_backward(c, shape, saved, in[0], out); });
  return result;
}

/// pad_last_dim<8>: heads whose width is no multiple of 8 are copied into wider ones.
Tensor padded_width(Context& c, const Tensor& heads) {
  const std::int64_t width = heads->sizes.back();
  if (width % 8 == 0) return heads;
  Extents sizes = heads->sizes;
  sizes[3] = round_up(width, 8);
  note_written(c, "aten::constant_pad_nd", 2.0 * static_cast<double>(heads->bytes())).work = program::Work::copy;
  Tensor result = c.make(sizes, heads->type);
  if (!c.records({&heads})) return result;
  c.attach("ConstantPadNdBackward0", result, {&heads}, [width](Context& context, Gradients& in, Gradients& out) {
    Extents narrow = in[0]->sizes;
    narrow[3] = width;
    out[0] = clone_contiguous(context, context.alias(in[0], narrow, in[0]->strides));
  });
  return result;
}

Tensor padded_flash_attention(Context& c, const Tensor& query, const Tensor& key, const Tensor& value, bool drops) {
  const std::int64_t width = query->sizes.back();
  const Tensor queries = padded_width(c, query), keys = padded_width(c, key), values = padded_width(c, value);
  const Tensor result = flash_attention(c, queries, keys, values, drops);
  return width % 8 == 0 ? result : rest_of(c, result, 3, width);
}

/// A mask of bool as one of the query's type; `padded`: its rows to a multiple of 8 elements.
Tensor bias_of(Context& c, const Tensor& mask, DType type, bool padded) {
  if (!mask) return {};
  note_written(c, "aten::where", static_cast<double>(mask->elements()) * static_cast<double>(bytes_of(type)));
  const Tensor bias = [&] {
    const Tensor one = c.make({}, type), other = c.make({}, type);
    return c.make(mask->sizes, type);
  }();
  const std::int64_t length = round_up(mask->sizes.back(), 8);
  if (!padded || length == mask->sizes.back()) return bias;
  Extents sizes = mask->sizes;
  sizes[sizes.count() - 1] = length;
  return c.make(sizes, type);
}

// aten/src/ATen/native/cudnn/MHA.cpp; the workspace of the backward pass is an estimate: the gradient of the query in
// fp32 and a number for each row
struct CudnnSaved {
  Saved query, key, value, result, scores, seed, offset, bias;
};

void cudnn_backward(Context& c, const Shape& shape, const CudnnSaved& saved, Gradients& out) {
  const Tensor query = saved.query.get(c), key = saved.key.get(c), value = saved.value.get(c),
               result = saved.result.get(c), scores = saved.scores.get(c), seed = saved.seed.get(c),
               offset = saved.offset.get(c), bias = saved.bias.get(c);
  note_attention(c.op("aten::_scaled_dot_product_cudnn_attention_backward"), shape, query, Pass::backward);
  out[0] = c.make(query->sizes, preserved_strides(*query), query->type);
  out[1] = c.make(key->sizes, preserved_strides(*key), key->type);
  out[2] = c.make(value->sizes, preserved_strides(*value), value->type);
  const Tensor workspace =
      c.scratch(static_cast<std::uint64_t>(4 * shape.batch * shape.heads * shape.queries * (shape.width + 1)));
}

Tensor cudnn_attention(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor& mask) {
  const Shape shape = shape_of(query, key);
  const Tensor bias = bias_of(context, mask, query->type, false);
  const bool records = context.records({&query, &key, &value});
  CudnnSaved saved{
      context.save(query, records), context.save(key, records), context.save(value, records), {}, {}, {}, {}, {}};
  if (bias) saved.bias = context.save(bias, records);
  note_attention(context.op("aten::_scaled_dot_product_cudnn_attention"), shape, query, Pass::forward);
  const Tensor seed = context.make({}, DType::int64), offset = context.make({}, DType::int64);
  Tensor result = context.make(query->sizes, preserved_strides(*query), query->type);
  const Tensor scores = context.make({shape.batch, shape.heads, records ? shape.queries : 0}, DType::fp32);
  if (!records) return result;
  saved.result = context.save(result);
  saved.scores = context.save(scores);
  saved.seed = context.save(seed);
  saved.offset = context.save(offset);
  context.attach("ScaledDotProductCudnnAttentionBackward0", result, {&query, &key, &value},
                 [saved, shape](Context& c, Gradients&, Gradients& out) { cudnn_backward(c, shape, saved, out); });
  return result;
}

/// How the backward kernel of memory-efficient attention cuts its sums.
struct Blocks {
  std::int64_t rows = 64, columns = 64;
  bool sums_keys = false;  ///< the gradients of keys and values are summed in fp32 apart
};

// aten/src/ATen/native/transformers/cuda/mem_eff_attention: the first kernel whose shared memory fits is taken;
// compared with its requests for widths of 32 to 256 on five GPUs
Blocks blocks_of(const Shape& shape, bool half, const DeviceFacts& device) {
  const bool roomy = device.shared_memory_per_block >= 160 * 1024, old = device.compute_major < 8;
  if (shape.width <= 64) return {};
  if (!half) return {roomy ? 128 : 64, 64, false};
  if (shape.width > 128) return {128, 64, true};
  if (roomy) return {128, 128, false};
  if (old || shape.width <= 96) return {128, 64, false};
  return {64, 64, true};
}

/// Keys whose gradients are summed at once: as many parts of 64 as there are, fewer where many heads share the device.
std::int64_t summed_keys(const Shape& shape) {
  const std::int64_t parts = std::min(divide_up(shape.keys, 64), 200 / (shape.batch * shape.heads));
  return 64 * std::max<std::int64_t>(parts, 1);
}

std::int64_t efficient_workspace(const Shape& shape, bool half, const DeviceFacts& device) {
  const Blocks blocks = blocks_of(shape, half, device);
  const std::int64_t query = divide_up(shape.queries, blocks.rows) * divide_up(shape.width, blocks.columns) *
                             (blocks.rows * blocks.columns * 4 + 16);
  const std::int64_t keys = blocks.sums_keys ? 2 * summed_keys(shape) * round_up(shape.width, 128) * 4 : 0;
  return shape.batch * shape.heads * (query + keys);
}

struct EfficientSaved {
  Saved query, key, value, result, scores, bias;
  bool has_bias = false;
};

void efficient_backward(Context& c, const Shape& shape, const EfficientSaved& saved, const Tensor& gradient,
                        Gradients& out) {
  const Tensor query = saved.query.get(c), key = saved.key.get(c), value = saved.value.get(c),
               result = saved.result.get(c), scores = saved.scores.get(c), bias = saved.bias.get(c);
  note_attention(c.op("aten::_scaled_dot_product_efficient_attention_backward"), shape, query, Pass::backward,
                 !saved.has_bias);
  const auto like = [&](const Tensor& heads) {
    const Extents& sizes = heads->sizes;
    return as_heads(c, c.make({sizes[0], sizes[2], sizes[1], sizes[3]}, heads->type));
  };
  out[0] = like(query);
  out[1] = like(key);
  out[2] = like(value);
  const bool half = is_half(query->type);
  Tensor delta;
  if (half) {
    delta = c.make({shape.batch, shape.heads, shape.queries}, DType::fp32);
  } else {
    const Tensor product = pointwise(c, "aten::mul", {&gradient, &result}, DType::fp32);
    const Tensor sum = c.make({shape.batch, shape.queries, shape.heads}, DType::fp32);
    delta = c.make({shape.batch, shape.heads, shape.queries}, DType::fp32);
  }
  const Tensor workspace = c.scratch(static_cast<std::uint64_t>(efficient_workspace(shape, half, c.device)));
}

Tensor efficient_attention(Context& context, const Tensor& query, const Tensor& key, const Tensor& value,
                           const Tensor& mask) {
  const Shape shape = shape_of(query, key);
  const Tensor bias = bias_of(context, mask, query->type, true);
  const bool records = context.records({&query, &key, &value});
  EfficientSaved saved{
      context.save(query, records), context.save(key, records), context.save(value, records), {}, {}, {},
      static_cast<bool>(bias)};
  if (bias) saved.bias = context.save(bias, records);
  note_attention(context.op("aten::_scaled_dot_product_efficient_attention"), shape, query, Pass::forward, !bias);
  const Extents sizes{shape.batch, shape.queries, shape.heads, shape.width};
  Tensor result = as_heads(context, context.make(sizes, query->type));
  const Tensor scores =
      context.make({shape.batch, shape.heads, records ? round_up(shape.queries, 32) : 0}, DType::fp32);
  if (is_half(query->type) && shape.width > 128) {
    const Tensor sums = context.make(sizes, DType::fp32);
  }
  if (!records) return result;
  saved.result = context.save(result);
  saved.scores = context.save(scores);
  context.attach(
      "ScaledDotProductEfficientAttentionBackward0", result, {&query, &key, &value},
      [saved, shape](Context& c, Gradients& in, Gradients& out) { efficient_backward(c, shape, saved, in[0], out); });
  return result;
}

/// repeat_interleave of the heads: a copy.
Tensor interleaved(Context& c, const Tensor& heads, std::int64_t times) {
  const Extents sizes = heads->sizes;
  const Tensor wide = expand(c, unsqueeze(c, heads, 2), {sizes[0], sizes[1], times, sizes[2], sizes[3]});
  return view(c, contiguous(c, wide), {sizes[0], sizes[1] * times, sizes[2], sizes[3]});
}

/// Rows that are masked as a whole give 0, not a NaN: three temporaries.
Tensor safe_softmax(Context& c, const Tensor& scores) {
  Tensor result = softmax(c, scores, scores->type);
  const Tensor infinite = pointwise(c, "aten::isneginf", {&scores}, DType::boolean);
  // all() of the rows, and where() that writes the result again
  program::Operator& op = c.tape.last_operator();
  op.bytes += static_cast<double>(infinite->bytes() + 2 * scores->bytes());
  op.launches = 3;
  Extents rows = scores->sizes;
  rows[rows.count() - 1] = 1;
  const Tensor masked = c.make(rows, DType::boolean);
  const Tensor zero = c.make({}, scores->type);
  return result;
}

Tensor lower_triangle(Context& c, const Shape& shape, DType type) {
  const auto cells = static_cast<double>(shape.queries * shape.keys);
  note_written(c, "aten::tril", 3 * cells).launches = 2;
  const Tensor triangle = [&] {
    const Tensor ones = c.make({shape.queries, shape.keys}, DType::boolean);
    return c.make({shape.queries, shape.keys}, DType::boolean);
  }();
  note_written(c, "aten::where", cells * static_cast<double>(1 + bytes_of(type))).launches = 3;
  const Tensor one = c.make({}, type), other = c.make({}, type);
  return c.make({shape.queries, shape.keys}, type);
}

// _scaled_dot_product_attention_math (aten/src/ATen/native/transformers/attention.cpp): what no fused kernel takes,
// half types in fp32
Tensor math_attention(Context& c, const Tensor& given_query, const Tensor& given_key, const Tensor& given_value,
                      const AttentionOptions& options) {
  const AutocastMode no_autocast(c, false);  // of the operators inside
  const DType type = given_query->type;
  const Shape shape = shape_of(given_query, given_key);
  const Tensor query = cast(c, given_query, DType::fp32), key = cast(c, given_key, DType::fp32),
               value = cast(c, given_value, DType::fp32);
  const Tensor scaled = mul_number(c, query);
  Tensor mask = options.mask;
  if (!mask && options.causal) mask = lower_triangle(c, shape, DType::fp32);
  const std::int64_t times = shape.heads / shape.key_heads;
  const Tensor keys = times > 1 ? interleaved(c, key, times) : key;
  const Tensor values = times > 1 ? interleaved(c, value, times) : value;
  Tensor weights = [&] {
    const Tensor scaled_key = mul_number(c, transpose(c, keys, 2, 3));
    return matmul(c, scaled, scaled_key);
  }();
  if (mask) in_place(c, "aten::add_", {&weights, &mask});
  weights = safe_softmax(c, weights);
  weights = dropout(c, weights, options.dropout);
  const Tensor returned_too = cast(c, weights, type);  // and dropped by the caller
  return cast(c, matmul(c, weights, values), type);
}

bool prefers_cudnn(const DeviceFacts& device, const Tensor& query) {
  const std::int64_t width = query->sizes.back(),
                     most = device.compute_major == 9 && device.compute_minor == 0 ? 256 : 128;
  const bool datacenter = device.compute_major == 9 || device.compute_major == 10;
  return datacenter && is_half(query->type) && width <= most && width % 8 == 0;
}

bool can_use_efficient(const Context& context, const Tensor& query, const Tensor& key) {
  if (query->sizes[1] != key->sizes[1]) return false;
  return query->type != DType::bf16 || context.device.compute_major >= 8;
}

}  // namespace

// aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, can_use_flash_attention
std::optional<FlashRefusal> flash_refusal(const DeviceFacts& device, const FlashInput& input) {
  if (device.compute_major < 8) return FlashRefusal{"the GPU is older than Ampere", "compute capability 8.0 or more"};
  if (!is_half(input.type)) return FlashRefusal{"queries of fp32", "bf16, bf16-autocast or fp16-autocast"};
  if (input.masked)
    return FlashRefusal{"a mask, of padding or of a sliding window that is not longer than the sequence", "no mask"};
  if (input.width > 256) return FlashRefusal{"heads wider than 256", "up to 256"};
  const bool small = device.compute_major == 12 || (device.compute_major == 8 && device.compute_minor >= 6);
  if (small && input.gradients && input.width > 192 && (input.width <= 224 || input.drops))
    return FlashRefusal{"the gradient of heads this wide on this GPU", "up to 192; or above 224 without dropout"};
  return std::nullopt;
}

Tensor scaled_dot_product_attention(Context& context, Tensor query, Tensor key, Tensor value,
                                    const AttentionOptions& options) {
  value = autocast(context, value);
  key = autocast(context, key);
  query = autocast(context, query);
  const bool drops = options.dropout > 0 && context.training;
  if (options.flash_alone) return padded_flash_attention(context, query, key, value, drops);
  if (prefers_cudnn(context.device, query)) return cudnn_attention(context, query, key, value, options.mask);
  const FlashInput input{query->type, query->sizes.back(), static_cast<bool>(options.mask), context.gradients, drops};
  if (!flash_refusal(context.device, input)) return padded_flash_attention(context, query, key, value, drops);
  if (can_use_efficient(context, query, key)) return efficient_attention(context, query, key, value, options.mask);
  const Tensor bias = bias_of(context, options.mask, query->type, false);
  return math_attention(context, query, key, value, {bias, options.causal, options.dropout});
}

}  // namespace ullage::lowering
