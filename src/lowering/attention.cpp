// SPDX-License-Identifier: Apache-2.0
// Attention as transformers calls it: the eager one, and PyTorch's scaled_dot_product_attention.
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

/// [batch, tokens, heads, width] as [batch, tokens, heads * width].
Tensor joined(Context& c, const Tensor& heads) {
  return reshape(c, heads, {heads->sizes[0], heads->sizes[1], heads->sizes[2] * heads->sizes[3]});
}

// repeat_kv: every key head as often as query heads share it, as a copy
Tensor repeat_heads(Context& c, const Tensor& heads, std::int64_t times) {
  if (times == 1) return heads;
  const Extents sizes = heads->sizes;
  const Tensor wide = expand(c, unsqueeze(c, heads, 2), {sizes[0], sizes[1], times, sizes[2], sizes[3]});
  return reshape(c, wide, {sizes[0], sizes[1] * times, sizes[2], sizes[3]});
}

// eager_attention_forward of the Llama-like families
Attended eager_attention(const Run& run, const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& mask) {
  Context& c = run.context;
  const std::int64_t times = query->sizes[1] / key->sizes[1];
  const Tensor keys = repeat_heads(c, key, times), values = repeat_heads(c, value, times);
  Tensor scores = matmul(c, query, transpose(c, keys, 2, 3));
  scores = mul_number(c, scores);
  if (run.network.scores_softcap) {
    scores = div_number(c, scores);
    scores = tanh(c, scores);
    scores = mul_number(c, scores);
  }
  scores = add(c, scores, mask);
  scores = [&] {
    const Tensor wide = softmax(c, scores, DType::fp32);
    return cast(c, wide, query->type);
  }();
  scores = dropout(c, scores, run.network.attention_dropout);
  Tensor result = matmul(c, scores, values);
  result = contiguous(c, transpose(c, result, 1, 2));
  return {joined(c, result), scores};
}

}  // namespace

Shared Shared::of(const Run& run, std::size_t layer) const {
  const auto& slides = run.network.slides;
  const bool slid = run.network.sliding_window && (slides.empty() || slides[layer]);
  return {positions, slid ? sliding_mask : mask, {}, rotary};
}

Tensor split_heads(const Run& run, const Tensor& projected) {
  const auto width = static_cast<std::int64_t>(run.network.head_width);
  return view(run.context, projected,
              {projected->sizes[0], projected->sizes[1], projected->sizes.back() / width, width});
}

Tensor heads_of(const Run& run, const Tensor& projected) {
  return transpose(run.context, split_heads(run, projected), 1, 2);
}

void remember(const Run& run, std::size_t layer, Tensor& key, Tensor& value) {
  if (run.cache != nullptr) run.cache->update(run.context, layer, key, value);
}

Attended attend(const Run& run, Tensor query, Tensor key, Tensor value, const Tensor& mask) {
  Context& c = run.context;
  if (run.setup.attention == Attention::eager) return eager_attention(run, query, key, value, mask);
  const std::int64_t times = query->sizes[1] / key->sizes[1];
  const bool shares = !mask && query->sizes.back() <= 256;  // enable_gqa, where a fused kernel may take it
  const Extents sizes = query->sizes;
  const bool packs = times > 1 && !shares && sizes[2] == 1;  // pack_gqa: the queries of a key head as its rows
  if (packs) {
    query = reshape(c, query, {sizes[0], sizes[1] / times, times, sizes[3]});
  } else if (times > 1 && !shares) {
    key = repeat_heads(c, key, times);
    value = repeat_heads(c, value, times);
  }
  const AttentionOptions options{mask, sizes[2] > 1, run.network.attention_dropout,
                                 run.setup.attention == Attention::flash};
  Tensor result = scaled_dot_product_attention(c, query, key, value, options);
  if (packs) result = reshape(c, result, sizes);
  result = contiguous(c, transpose(c, result, 1, 2));
  return {joined(c, result), {}};
}

}  // namespace ullage::lowering
