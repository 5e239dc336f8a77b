// SPDX-License-Identifier: Apache-2.0
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

Attended self_attention(const Run& run, std::size_t layer, const Tensor& hidden, const Shared& shared) {
  Context& c = run.context;
  const ModuleScope module(c, "attention");
  const auto width = static_cast<std::int64_t>(run.network.head_width);
  std::vector<Tensor> parts;
  {
    const Tensor joined = project(run, layer, "attention.query_key_value", hidden);
    const Tensor heads =
        view(c, joined, {hidden->sizes[0], hidden->sizes[1], joined->sizes.back() / (3 * width), 3 * width});
    parts = split(c, transpose(c, heads, 1, 2), 3, {width, width, width});
  }
  const Tensor joined = parts[2];  // its memory is there as long as this runs
  Tensor value = joined;
  Turned turned = rotated_parts(c, parts[0], parts[1], shared.rotary, false);
  parts.clear();
  remember(run, layer, turned.key, value);
  Attended result = attend(run, turned.query, turned.key, value, shared.mask);
  result.output = project(run, layer, "attention.dense", result.output);
  return result;
}

Tensor feed_forward(const Run& run, std::size_t layer, const Tensor& input) {
  const ModuleScope module(run.context, "mlp");
  Tensor hidden = project(run, layer, "mlp.dense_h_to_4h", input);
  hidden = activate(run.context, run.network.activation, hidden);
  return project(run, layer, "mlp.dense_4h_to_h", hidden);
}

Tensor decoder_layer(const Run& run, std::size_t layer, const Tensor& hidden, const Shared& shared) {
  Context& c = run.context;
  const Scope weights(run, layer);
  const double dropped = run.network.residual_dropout;
  const auto normed = [&](std::string_view name, const Tensor& input) {
    return norm(run, name, weights(std::string(name) + ".weight"), weights(std::string(name) + ".bias"), input);
  };
  Attended attended = self_attention(run, layer, normed("input_layernorm", hidden), shared);
  Tensor attention = std::move(attended.output);
  attention = dropout(c, attention, dropped);
  if (!run.network.parallel_residual) attention = add(c, attention, hidden);
  Tensor fed =
      feed_forward(run, layer, normed("post_attention_layernorm", run.network.parallel_residual ? hidden : attention));
  fed = dropout(c, fed, dropped);
  const Tensor sum = add(c, fed, attention);
  return run.network.parallel_residual ? add(c, sum, hidden) : sum;
}

Tensor model(const Run& run) {
  Context& c = run.context;
  const ModuleScope module(c, "gpt_neox");
  const Tensor embedded = embedding(c, run.tokens, run.weights.top("gpt_neox.embed_in.weight"));
  Shared shared;
  shared.positions = position_ids(run);
  shared.mask = causal_mask(run, embedded->type, true);
  Tensor hidden = dropout(c, embedded, run.network.embedding_dropout);
  shared.rotary = rotary_embedding(run, hidden->type);
  hidden = through_layers(run, std::move(hidden), [&](std::size_t layer) -> Layer {
    return [run, layer, shared](const Tensor& input) { return decoder_layer(run, layer, input, shared); };
  });
  return norm(run, "final_layer_norm", run.weights.top("gpt_neox.final_layer_norm.weight"),
              run.weights.top("gpt_neox.final_layer_norm.bias"), hidden);
}

}  // namespace

Tensor gpt_neox_forward(const Run& run) {
  const Tensor hidden = wanted_tokens(run, model(run));
  const Tensor logits = linear(run.context, hidden, run.weights.top("lm_head.weight"), {});
  return run.setup.train ? causal_loss(run.context, logits, run.labels) : logits;
}

}  // namespace ullage::lowering
