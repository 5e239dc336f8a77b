// SPDX-License-Identifier: Apache-2.0
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

// Gemma2RMSNorm: x * rsqrt(mean(x^2)) * (1 + weight) in fp32
Tensor gemma_norm(const Run& run, std::string_view name, const Tensor& weight, const Tensor& input) {
  Context& c = run.context;
  const ModuleScope module(c, name);
  Tensor output = [&] {
    const Tensor wide = cast(c, input, DType::fp32);
    Tensor root = pow_number(c, wide);
    root = mean_last(c, root);
    root = add_number(c, root);
    root = rsqrt(c, root);
    return mul(c, wide, root);
  }();
  {
    Tensor scale = cast(c, weight, DType::fp32);
    scale = add_number(c, scale);
    output = mul(c, output, scale);
  }
  return cast(c, output, input->type);
}

Tensor layer_norm_of(const Run& run, std::size_t layer, std::string_view name, const Tensor& input) {
  return gemma_norm(run, name, run.weights.layer(layer, std::string(name) + ".weight"), input);
}

Attended self_attention(const Run& run, std::size_t layer, const Tensor& hidden, const Shared& shared) {
  Context& c = run.context;
  const ModuleScope module(c, "self_attn");
  Tensor query = heads_of(run, project(run, layer, "self_attn.q_proj", hidden));
  Tensor key = heads_of(run, project(run, layer, "self_attn.k_proj", hidden));
  Tensor value = heads_of(run, project(run, layer, "self_attn.v_proj", hidden));
  {
    const Tensor turned_query = rotated(c, query, shared.rotary);
    const Tensor turned_key = rotated(c, key, shared.rotary);
    query = turned_query;
    key = turned_key;
  }
  remember(run, layer, key, value);
  Attended result = attend(run, query, key, value, shared.mask);
  result.output = project(run, layer, "self_attn.o_proj", result.output);
  return result;
}

Tensor decoder_layer(const Run& run, std::size_t layer, Tensor hidden, const Shared& shared) {
  Context& c = run.context;
  Tensor residual = hidden;
  hidden = layer_norm_of(run, layer, "input_layernorm", hidden);
  Attended attention = self_attention(run, layer, hidden, shared);
  hidden = std::move(attention.output);
  hidden = layer_norm_of(run, layer, "post_attention_layernorm", hidden);
  hidden = add(c, residual, hidden);
  residual = hidden;
  hidden = layer_norm_of(run, layer, "pre_feedforward_layernorm", hidden);
  hidden = gated_mlp(run, layer, hidden);
  hidden = layer_norm_of(run, layer, "post_feedforward_layernorm", hidden);
  return add(c, residual, hidden);
}

Tensor model(const Run& run) {
  Context& c = run.context;
  const ModuleScope module(c, "model");
  const Tensor embedded = [&] {
    const Tensor raw = embedding(c, run.tokens, run.weights.top("model.embed_tokens.weight"));
    return mul(c, raw, c.alias(run.weights.scale(), {}, {}));
  }();
  const Shared shared = shared_inputs(run, embedded->type);
  const Tensor hidden = through_layers(run, embedded, [&](std::size_t layer) -> Layer {
    return [run, layer, own = shared.of(run, layer)](Tensor input) {
      return decoder_layer(run, layer, std::move(input), own);
    };
  });
  return gemma_norm(run, "norm", run.weights.top("model.norm.weight"), hidden);
}

}  // namespace

Tensor gemma2_forward(const Run& run) {
  Context& c = run.context;
  const Tensor hidden = wanted_tokens(run, model(run));
  Tensor logits = linear(c, hidden, run.weights.top("lm_head.weight"), {});
  if (run.network.logits_softcap) {
    logits = div_number(c, logits);
    logits = tanh(c, logits);
    logits = mul_number(c, logits);
  }
  return run.setup.train ? causal_loss(c, logits, run.labels) : logits;
}

}  // namespace ullage::lowering
