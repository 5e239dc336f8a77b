// SPDX-License-Identifier: Apache-2.0
// Llama, Mistral, Qwen2 and Qwen3, and Phi-3, which has its projections joined.
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

struct Heads {
  Tensor query, key, value;
  Tensor joined;  ///< what they are parts of
};

Heads projected(const Run& run, std::size_t layer, const Tensor& hidden) {
  Context& c = run.context;
  Heads heads;
  if (!run.weights.layer(layer, "self_attn.qkv_proj.weight")) {
    const auto one = [&](std::string_view name, std::string_view norm_name) {
      const Tensor wide = project(run, layer, "self_attn." + std::string(name), hidden);
      const Tensor weight = run.weights.layer(layer, "self_attn." + std::string(norm_name) + ".weight");
      if (!weight) return heads_of(run, wide);
      return transpose(c, rms_norm(run, norm_name, weight, split_heads(run, wide)), 1, 2);
    };
    heads.query = one("q_proj", "q_norm");
    heads.key = one("k_proj", "k_norm");
    heads.value = one("v_proj", "none");
    return heads;
  }
  const Tensor joined = project(run, layer, "self_attn.qkv_proj", hidden);
  const auto width = static_cast<std::int64_t>(run.network.head_width);
  const auto query = static_cast<std::int64_t>(run.network.heads) * width;
  const auto key = static_cast<std::int64_t>(run.network.key_value_heads) * width;
  const Tensor queries = slice(c, joined, 2, query), keys = slice(c, joined, 2, key), values = slice(c, joined, 2, key);
  heads.query = heads_of(run, queries);
  heads.key = heads_of(run, keys);
  heads.value = heads_of(run, values);
  heads.joined = joined;
  return heads;
}

Attended self_attention(const Run& run, std::size_t layer, const Tensor& hidden, const Shared& shared) {
  Context& c = run.context;
  const ModuleScope module(c, "self_attn");
  Heads heads = projected(run, layer, hidden);
  if (run.weights.layer(layer, "self_attn.qkv_proj.weight")) {
    const Turned turned = rotated_parts(c, heads.query, heads.key, shared.rotary, true);
    heads.query = turned.query;
    heads.key = turned.key;
  } else {
    const Tensor query = rotated(c, heads.query, shared.rotary);
    const Tensor key = rotated(c, heads.key, shared.rotary);
    heads.query = query;
    heads.key = key;
  }
  remember(run, layer, heads.key, heads.value);
  Attended result = attend(run, heads.query, heads.key, heads.value, shared.mask);
  result.output = project(run, layer, "self_attn.o_proj", result.output);
  return result;
}

/// down(up * act(gate)) of one projection for both.
Tensor joined_mlp(const Run& run, std::size_t layer, const Tensor& input) {
  Context& c = run.context;
  const ModuleScope module(c, "mlp");
  Tensor up = project(run, layer, "mlp.gate_up_proj", input);
  const std::int64_t width = up->sizes.back() / 2;
  std::vector<Tensor> parts = split(c, up, 2, {width, width});
  const Tensor gate = std::move(parts[0]);
  up = std::move(parts[1]);
  parts.clear();
  up = [&] {
    const Tensor active = activate(c, run.network.activation, gate);
    return mul(c, up, active);
  }();
  return project(run, layer, "mlp.down_proj", up);
}

Tensor decoder_layer(const Run& run, std::size_t layer, Tensor hidden, const Shared& shared) {
  Context& c = run.context;
  const Scope weights(run, layer);
  const double dropped = run.network.residual_dropout;
  Tensor residual = hidden;
  hidden = rms_norm(run, "input_layernorm", weights("input_layernorm.weight"), hidden);
  Attended attention = self_attention(run, layer, hidden, shared);
  hidden = std::move(attention.output);
  hidden = add(c, residual, dropout(c, hidden, dropped));
  residual = hidden;
  hidden = rms_norm(run, "post_attention_layernorm", weights("post_attention_layernorm.weight"), hidden);
  const bool joined = static_cast<bool>(weights("mlp.gate_up_proj.weight"));
  hidden = joined ? joined_mlp(run, layer, hidden) : gated_mlp(run, layer, hidden);
  return add(c, residual, dropout(c, hidden, dropped));
}

Tensor model(const Run& run) {
  Context& c = run.context;
  const ModuleScope module(c, "model");
  const Tensor embedded = embedding(c, run.tokens, run.weights.top("model.embed_tokens.weight"));
  const Shared shared = shared_inputs(run, embedded->type);
  const Tensor hidden = through_layers(run, embedded, [&](std::size_t layer) -> Layer {
    return [run, layer, own = shared.of(run, layer)](Tensor input) {
      return decoder_layer(run, layer, std::move(input), own);
    };
  });
  return rms_norm(run, "norm", run.weights.top("model.norm.weight"), hidden);
}

}  // namespace

Tensor llama_forward(const Run& run) {
  const Tensor hidden = wanted_tokens(run, model(run));
  const Tensor logits = linear(run.context, hidden, run.weights.top("lm_head.weight"), {});
  return run.setup.train ? causal_loss(run.context, logits, run.labels) : logits;
}

}  // namespace ullage::lowering
