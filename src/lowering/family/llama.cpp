// SPDX-License-Identifier: Apache-2.0
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

Tensor heads_of(const Run& run, std::size_t layer, std::string_view name, const Tensor& hidden) {
  const Tensor wide = project(run, layer, name, hidden);
  const auto width = static_cast<std::int64_t>(run.network.head_width);
  const Tensor heads = view(run.context, wide, {hidden->sizes[0], hidden->sizes[1], wide->sizes.back() / width, width});
  return transpose(run.context, heads, 1, 2);
}

Tensor self_attention(const Run& run, std::size_t layer, const Tensor& hidden, const Rotary& rotary,
                      const Tensor& mask) {
  Context& c = run.context;
  const ModuleScope module(c, "self_attn");
  Tensor query = heads_of(run, layer, "self_attn.q_proj", hidden);
  Tensor key = heads_of(run, layer, "self_attn.k_proj", hidden);
  const Tensor value = heads_of(run, layer, "self_attn.v_proj", hidden);
  {
    const Tensor turned_query = rotated(c, query, rotary);
    const Tensor turned_key = rotated(c, key, rotary);
    query = turned_query;
    key = turned_key;
  }
  const Tensor result = attend(run, query, key, value, mask);
  return project(run, layer, "self_attn.o_proj", result);
}

Tensor decoder_layer(const Run& run, std::size_t layer, Tensor hidden, const Rotary& rotary, const Tensor& mask) {
  const Scope weights(run, layer);
  Tensor residual = hidden;
  hidden = rms_norm(run, "input_layernorm", weights("input_layernorm.weight"), hidden);
  hidden = self_attention(run, layer, hidden, rotary, mask);
  hidden = add(run.context, residual, hidden);
  residual = hidden;
  hidden = rms_norm(run, "post_attention_layernorm", weights("post_attention_layernorm.weight"), hidden);
  hidden = gated_mlp(run, layer, hidden);
  return add(run.context, residual, hidden);
}

Tensor model(const Run& run) {
  Context& c = run.context;
  const ModuleScope module(c, "model");
  const Tensor embedded = embedding(c, run.tokens, run.weights.top("model.embed_tokens.weight"));
  const Tensor positions = position_ids(run);
  const Tensor mask = causal_mask(run, embedded->type);
  const Rotary rotary = rotary_embedding(run, positions, embedded->type);
  const Tensor hidden = through_layers(run, embedded, [run, rotary, positions, mask](std::size_t layer, Tensor input) {
    return decoder_layer(run, layer, std::move(input), rotary, mask);
  });
  return rms_norm(run, "norm", run.weights.top("model.norm.weight"), hidden);
}

}  // namespace

Tensor llama_forward(const Run& run) {
  const Tensor hidden = model(run);
  const Tensor logits = linear(run.context, hidden, run.weights.top("lm_head.weight"), {});
  return causal_loss(run.context, logits, run.tokens);
}

}  // namespace ullage::lowering
