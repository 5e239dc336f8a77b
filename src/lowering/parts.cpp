// SPDX-License-Identifier: Apache-2.0
#include "lowering/run.hpp"

namespace ullage::lowering {

Tensor project(const Run& run, std::size_t layer, std::string_view name, const Tensor& input) {
  const ModuleScope module(run.context, name.substr(name.rfind('.') + 1));
  const Tensor weight = run.weights.layer(layer, std::string(name) + ".weight");
  return linear(run.context, input, weight, run.weights.layer(layer, std::string(name) + ".bias"));
}

// LlamaRMSNorm: computed in fp32, scaled in the type that came in.
Tensor rms_norm(const Run& run, std::string_view name, const Tensor& weight, Tensor hidden) {
  Context& c = run.context;
  const ModuleScope module(c, name);
  const DType type = hidden->type;
  hidden = cast(c, hidden, DType::fp32);
  Tensor variance = pow_number(c, hidden);
  variance = mean_last(c, variance);
  {
    Tensor root = add_number(c, variance);
    root = rsqrt(c, root);
    hidden = mul(c, hidden, root);
  }
  const Tensor narrow = cast(c, hidden, type);
  return mul(c, weight, narrow);
}

namespace {

// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
Tensor gelu_new(Context& c, const Tensor& input) {
  const Tensor half = mul_number(c, input);
  Tensor inner = pow_number(c, input);
  inner = mul_number(c, inner);
  inner = add(c, input, inner);
  inner = mul_number(c, inner);
  inner = tanh(c, inner);
  inner = add_number(c, inner);
  return mul(c, half, inner);
}

// 0.5 * x * (1 + tanh(x * 0.7978845608 * (1 + 0.044715 * x * x)))
Tensor gelu_fast(Context& c, const Tensor& input) {
  const Tensor half = mul_number(c, input);
  const Tensor scaled = mul_number(c, input);
  Tensor inner = mul_number(c, input);
  inner = mul(c, inner, input);
  inner = add_number(c, inner);
  inner = mul(c, scaled, inner);
  inner = tanh(c, inner);
  inner = add_number(c, inner);
  return mul(c, half, inner);
}

// x * sigmoid(1.702 * x)
Tensor quick_gelu(Context& c, const Tensor& input) {
  Tensor gate = mul_number(c, input);
  gate = sigmoid(c, gate);
  return mul(c, input, gate);
}

}  // namespace

Tensor activate(Context& context, model::Activation activation, const Tensor& input) {
  switch (activation) {
    case model::Activation::relu:
      return relu(context, input);
    case model::Activation::silu:
      return silu(context, input);
    case model::Activation::gelu_new:
      return gelu_new(context, input);
    case model::Activation::gelu_fast:
      return gelu_fast(context, input);
    case model::Activation::quick_gelu:
      return quick_gelu(context, input);
    case model::Activation::gelu:
    case model::Activation::gelu_tanh:
    case model::Activation::other:
      return gelu(context, input);
  }
  return gelu(context, input);
}

Tensor norm(const Run& run, std::string_view name, const Tensor& weight, const Tensor& bias, const Tensor& input) {
  const ModuleScope module(run.context, name);
  return layer_norm(run.context, input, weight, bias);
}

Tensor gated_mlp(const Run& run, std::size_t layer, const Tensor& input) {
  Context& c = run.context;
  const ModuleScope module(c, "mlp");
  Tensor product;
  {
    Tensor gate = project(run, layer, "mlp.gate_proj", input);
    gate = activate(c, run.network.activation, gate);
    const Tensor up = project(run, layer, "mlp.up_proj", input);
    product = mul(c, gate, up);
  }
  return project(run, layer, "mlp.down_proj", product);
}

Tensor position_ids(const Run& run) {
  Context& c = run.context;
  note_written(c, "aten::arange", 8.0 * static_cast<double>(run.queries()));
  const Tensor range = c.make({run.queries()}, DType::int64, program::Role::input);
  const Tensor shifted = pointwise(c, "aten::add", {&range}, DType::int64);
  c.tape.is(shifted->storage->id, program::Role::input);
  return unsqueeze(c, shifted, 0);
}

Rotary rotary_embedding(const Run& run, DType type) {
  Context& c = run.context;
  const ModuleScope module(c, "rotary_emb");
  const auto width = static_cast<std::int64_t>(run.network.rotary_width);
  const std::int64_t length = run.queries();
  const GradientMode mode(c, false);
  Tensor frequencies;
  {
    note_written(c, "aten::_to_copy", 12.0 * static_cast<double>(length));
    const Tensor positions = c.make({1, 1, length}, DType::fp32);
    note_written(c, "aten::mul", 2.0 * static_cast<double>(length * width));
    frequencies = c.make({1, length, width / 2}, {length * width / 2, 1, length}, DType::fp32);
  }
  const Tensor angles = cat(c, {frequencies, frequencies}, 2);
  Rotary rotary;
  Tensor cosine, sine;
  {
    const Tensor raw = pointwise(c, "aten::cos", {&angles}, DType::fp32);
    cosine = pointwise(c, "aten::mul", {&raw}, DType::fp32);
  }
  {
    const Tensor raw = pointwise(c, "aten::sin", {&angles}, DType::fp32);
    sine = pointwise(c, "aten::mul", {&raw}, DType::fp32);
  }
  rotary.cosine = cast(c, cosine, type);
  rotary.sine = cast(c, sine, type);
  return rotary;
}

Tensor rotate_half(Context& c, const Tensor& heads) {
  const std::int64_t half = heads->sizes.back() / 2;
  const Tensor first = slice(c, heads, 3, half), second = slice(c, heads, 3, half);
  const Tensor negative = neg(c, second);
  return cat(c, {negative, first}, 3);
}

Tensor rotated(Context& c, const Tensor& heads, const Rotary& rotary) {
  const Tensor cosine = unsqueeze(c, rotary.cosine, 1), sine = unsqueeze(c, rotary.sine, 1);
  const Tensor straight = mul(c, heads, cosine);
  Tensor turned = rotate_half(c, heads);
  turned = mul(c, turned, sine);
  return add(c, straight, turned);
}

Turned rotated_parts(Context& c, const Tensor& query, const Tensor& key, const Rotary& rotary, bool one_by_one) {
  const std::int64_t width = query->sizes.back(), part = rotary.cosine->sizes.back();
  const Tensor front_query = slice(c, query, 3, part), rest_query = rest_of(c, query, 3, width - part);
  const Tensor front_key = slice(c, key, 3, part), rest_key = rest_of(c, key, 3, width - part);
  Turned turned;
  turned.query = rotated(c, front_query, rotary);
  if (one_by_one) turned.query = cat(c, {turned.query, rest_query}, 3);
  turned.key = rotated(c, front_key, rotary);
  if (!one_by_one) turned.query = cat(c, {turned.query, rest_query}, 3);
  turned.key = cat(c, {turned.key, rest_key}, 3);
  return turned;
}

// compute_default_rope_parameters, once when the module is built and once when the model is initialised
void load_rotary(Context& c, std::int64_t width, std::vector<Tensor>& buffers) {
  const auto frequencies = [&](program::Role role) {
    c.op("aten::arange");
    Tensor steps = c.make({width / 2}, DType::fp32);
    steps = div_number(c, steps);
    {
      const Tensor base = c.make({}, DType::fp32);
      const Tensor power = pointwise(c, "aten::pow", {&steps}, DType::fp32);
      steps = power;
    }
    const Tensor inverse = pointwise(c, "aten::reciprocal", {&steps}, DType::fp32);
    const Tensor result = pointwise(c, "aten::mul", {&inverse}, DType::fp32);
    c.tape.is(result->storage->id, role);
    return result;
  };
  buffers.push_back(frequencies(program::Role::buffer));
  c.op("aten::clone");
  buffers.push_back(c.make({width / 2}, DType::fp32, program::Role::buffer));
  (void)frequencies(program::Role::temporary);
}

Tensor wanted_tokens(const Run& run, const Tensor& hidden) {
  return run.cache != nullptr ? rest_of(run.context, hidden, 1, 1) : hidden;
}

Tensor through_layers(const Run& run, Tensor hidden, const std::function<Layer(std::size_t layer)>& layer) {
  const ModuleScope module(run.context, run.weights.list_name());
  for (std::size_t i = 0; i < run.network.layers; ++i) {
    const LayerScope scope(run.context, static_cast<program::LayerNumber>(i + 1));
    const ModuleScope number(run.context, std::to_string(i));
    const Layer one = layer(i);
    if (!run.setup.train || run.setup.checkpoint_every == 0 || i % run.setup.checkpoint_every != 0) {
      hidden = one(hidden);
      continue;
    }
    hidden = checkpointed(run.context, hidden, [one](Context&, const Tensor& input) { return one(input); });
  }
  return hidden;
}

}  // namespace ullage::lowering
