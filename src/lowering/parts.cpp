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
    const Tensor shifted = add_number(c, variance);
    Tensor root = rsqrt(c, shifted);
    const_cast<Tensor&>(shifted) = Tensor();
    hidden = mul(c, hidden, root);
  }
  const Tensor narrow = cast(c, hidden, type);
  return mul(c, weight, narrow);
}

Tensor activate(Context& context, model::Activation activation, const Tensor& input) {
  switch (activation) {
    case model::Activation::relu:
      return relu(context, input);
    case model::Activation::silu:
      return silu(context, input);
    default:
      return gelu(context, input);
  }
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
  c.op("aten::arange");
  const Tensor range = c.make({run.setup.sequence}, DType::int64, program::Role::input);
  const Tensor shifted = pointwise(c, "aten::add", {&range}, DType::int64);
  c.tape.is(shifted->storage->id, program::Role::input);
  return unsqueeze(c, shifted, 0);
}

// masking_utils.find_packed_sequence_indices: position ids are compared with their successors, numbered, and the answer
// whether there is more than one sequence in a row is read.
void look_for_packed_sequences(const Run& run) {
  Context& c = run.context;
  const std::int64_t batch = run.setup.micro_batch, length = run.setup.sequence;
  const auto numbers = [&](const char* name, std::int64_t columns, DType type) {
    c.op(name);
    return c.make({batch, columns}, type);
  };
  const Tensor first = numbers("aten::sub", 1, DType::int64);
  Tensor steps;
  {
    const Tensor extended = numbers("aten::cat", length + 1, DType::int64);
    steps = numbers("aten::sub", length, DType::int64);
  }
  Tensor sequences;
  {
    const Tensor begins = numbers("aten::ne", length, DType::boolean);
    c.op("aten::cumsum");
    sequences = c.make({batch, length}, DType::int64);
    const Tensor wide = numbers("aten::_to_copy", length, DType::int64);
  }
  const Tensor single = numbers("aten::eq", 1, DType::boolean);
  c.op("aten::all");
  const Tensor answer = c.make({}, DType::boolean);
}

Rotary rotary_embedding(const Run& run, const Tensor&, DType type) {
  Context& c = run.context;
  const ModuleScope module(c, "rotary_emb");
  const auto width = static_cast<std::int64_t>(run.network.rotary_width);
  const std::int64_t length = run.setup.sequence;
  const GradientMode mode(c, false);
  Tensor frequencies;
  {
    c.op("aten::_to_copy");
    const Tensor positions = c.make({1, 1, length}, DType::fp32);
    c.op("aten::mul");
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

Tensor causal_mask(const Run& run, DType type) {
  look_for_packed_sequences(run);
  if (run.setup.attention != Attention::eager) return {};
  Context& c = run.context;
  const std::int64_t batch = run.setup.micro_batch, length = run.setup.sequence;
  Tensor allowed;
  {
    const auto range = [&](std::int64_t count) {
      c.op("aten::arange");
      return c.make({count}, DType::int64);
    };
    const Tensor batches = range(batch), heads = range(1);
    Tensor queries = range(length);
    queries = pointwise(c, "aten::add", {&queries}, DType::int64);
    Tensor keys = range(length);
    keys = pointwise(c, "aten::add", {&keys}, DType::int64);
    c.op("aten::le");
    allowed = c.make({1, 1, length, length}, DType::boolean);
  }
  c.op("aten::where");
  const Tensor zero = c.make({}, type), least = c.make({}, type);
  return c.make({batch, 1, length, length}, type);
}

// repeat_kv: every key head as often as query heads share it, as a copy
Tensor repeat_heads(Context& c, const Tensor& heads, std::int64_t times) {
  if (times == 1) return heads;
  const Extents sizes = heads->sizes;
  const Tensor wide = expand(c, unsqueeze(c, heads, 2), {sizes[0], sizes[1], times, sizes[2], sizes[3]});
  return reshape(c, wide, {sizes[0], sizes[1] * times, sizes[2], sizes[3]});
}

// eager_attention_forward of the Llama-like families
Tensor eager_attention(const Run& run, const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  Context& c = run.context;
  const std::int64_t times = query->sizes[1] / key->sizes[1];
  const Tensor keys = repeat_heads(c, key, times), values = repeat_heads(c, value, times);
  Tensor scores = matmul(c, query, transpose(c, keys, 2, 3));
  scores = mul_number(c, scores);
  scores = add(c, scores, mask);
  const Tensor wide = softmax(c, scores, DType::fp32);
  scores = cast(c, wide, query->type);
  const_cast<Tensor&>(wide) = Tensor();
  scores = dropout(c, scores, run.network.attention_dropout);
  Tensor result = matmul(c, scores, values);
  result = contiguous(c, transpose(c, result, 1, 2));
  return reshape(c, result, {result->sizes[0], result->sizes[1], result->sizes[2] * result->sizes[3]});
}

Tensor attend(const Run& run, Tensor query, Tensor key, Tensor value, const Tensor& mask) {
  Context& c = run.context;
  if (run.setup.attention == Attention::eager) return eager_attention(run, query, key, value, mask);
  AttentionOptions options;
  options.mask = mask;
  options.dropout = run.network.attention_dropout;
  Tensor result = scaled_dot_product_attention(c, query, key, value, options);
  result = transpose(c, result, 1, 2);
  result = contiguous(c, result);
  return reshape(c, result, {result->sizes[0], result->sizes[1], result->sizes[2] * result->sizes[3]});
}

Tensor through_layers(const Run& run, Tensor hidden,
                      const std::function<Tensor(std::size_t layer, Tensor hidden)>& layer) {
  const ModuleScope module(run.context, "layers");
  for (std::size_t i = 0; i < run.network.layers; ++i) {
    const ModuleScope number(run.context, std::to_string(i));
    if (!run.setup.checkpoint) {
      hidden = layer(i, hidden);
      continue;
    }
    hidden = checkpointed(run.context, hidden, [layer, i](Context&, const Tensor& input) { return layer(i, input); });
  }
  return hidden;
}

}  // namespace ullage::lowering
