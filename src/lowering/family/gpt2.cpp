// SPDX-License-Identifier: Apache-2.0
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

Tensor convolved(const Run& run, std::size_t layer, std::string_view name, const Tensor& input) {
  const ModuleScope module(run.context, name.substr(name.rfind('.') + 1));
  const Scope weights(run, layer);
  return conv1d(run.context, input, weights(std::string(name) + ".weight"), weights(std::string(name) + ".bias"));
}

// eager_attention_forward of GPT-2: the softmax has the type of its input, and the result is no copy
Attended eager(const Run& run, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  Context& c = run.context;
  Tensor scores = matmul(c, query, transpose(c, key, 2, 3));
  scores = mul_number(c, scores);
  scores = add(c, scores, mask);
  scores = softmax(c, scores, c.autocast.on ? DType::fp32 : scores->type);
  scores = cast(c, scores, value->type);
  scores = dropout(c, scores, run.network.attention_dropout);
  const Tensor result = matmul(c, scores, value);
  return {transpose(c, result, 1, 2), scores};
}

Attended self_attention(const Run& run, std::size_t layer, const Tensor& hidden, const Tensor& mask) {
  Context& c = run.context;
  const ModuleScope module(c, "attn");
  const auto width = static_cast<std::int64_t>(run.network.hidden);
  std::vector<Tensor> parts = split(c, convolved(run, layer, "attn.c_attn", hidden), 2, {width, width, width});
  Tensor key = heads_of(run, parts[1]), value = heads_of(run, parts[2]);
  const Tensor query = heads_of(run, parts[0]);
  parts.clear();
  remember(run, layer, key, value);
  Attended result;
  if (run.setup.attention == Attention::eager) {
    result = eager(run, query, key, value, mask);
    result.output = reshape(c, result.output, {hidden->sizes[0], hidden->sizes[1], width});
  } else {
    result = attend(run, query, key, value, mask);
  }
  result.output = convolved(run, layer, "attn.c_proj", result.output);
  result.output = dropout(c, result.output, run.network.residual_dropout);
  return result;
}

Tensor feed_forward(const Run& run, std::size_t layer, Tensor hidden) {
  const ModuleScope module(run.context, "mlp");
  hidden = convolved(run, layer, "mlp.c_fc", hidden);
  hidden = activate(run.context, run.network.activation, hidden);
  hidden = convolved(run, layer, "mlp.c_proj", hidden);
  return dropout(run.context, hidden, run.network.residual_dropout);
}

Tensor block(const Run& run, std::size_t layer, Tensor hidden, const Tensor& mask) {
  Context& c = run.context;
  const Scope weights(run, layer);
  Tensor residual = hidden;
  hidden = norm(run, "ln_1", weights("ln_1.weight"), weights("ln_1.bias"), hidden);
  const Attended attention = self_attention(run, layer, hidden, mask);
  hidden = add(c, attention.output, residual);
  residual = hidden;
  hidden = norm(run, "ln_2", weights("ln_2.weight"), weights("ln_2.bias"), hidden);
  const Tensor fed = feed_forward(run, layer, hidden);
  return add(c, residual, fed);
}

Tensor model(const Run& run) {
  Context& c = run.context;
  const ModuleScope module(c, "transformer");
  const Tensor embedded = embedding(c, run.tokens, run.weights.top("transformer.wte.weight"));
  const Tensor positions = position_ids(run);
  const Tensor places = embedding(c, positions, run.weights.top("transformer.wpe.weight"));
  Tensor hidden = add(c, embedded, places);
  const Tensor mask = causal_mask(run, embedded->type, true);
  hidden = dropout(c, hidden, run.network.embedding_dropout);
  hidden = through_layers(run, std::move(hidden), [&](std::size_t layer) -> Layer {
    return [run, layer, mask, positions](Tensor input) { return block(run, layer, std::move(input), mask); };
  });
  return norm(run, "ln_f", run.weights.top("transformer.ln_f.weight"), run.weights.top("transformer.ln_f.bias"),
              hidden);
}

}  // namespace

Tensor gpt2_forward(const Run& run) {
  const Tensor hidden = wanted_tokens(run, model(run));
  const Tensor logits = linear(run.context, hidden, run.weights.top("lm_head.weight"), {});
  return run.setup.train ? causal_loss(run.context, logits, run.labels) : logits;
}

}  // namespace ullage::lowering
