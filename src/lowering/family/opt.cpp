// SPDX-License-Identifier: Apache-2.0
#include "lowering/operators/cub.hpp"
#include "lowering/run.hpp"

namespace ullage::lowering {
namespace {

Attended self_attention(const Run& run, std::size_t layer, const Tensor& hidden, const Tensor& mask) {
  Context& c = run.context;
  const ModuleScope module(c, "self_attn");
  const Tensor query = [&] {
    const Tensor raw = project(run, layer, "self_attn.q_proj", hidden);
    return heads_of(run, mul_number(c, raw));
  }();
  Tensor key = heads_of(run, project(run, layer, "self_attn.k_proj", hidden));
  Tensor value = heads_of(run, project(run, layer, "self_attn.v_proj", hidden));
  remember(run, layer, key, value);
  Attended result = attend(run, query, key, value, mask);
  result.output = project(run, layer, "self_attn.out_proj", result.output);
  return result;
}

Tensor decoder_layer(const Run& run, std::size_t layer, Tensor hidden, const Tensor& mask) {
  Context& c = run.context;
  const Scope weights(run, layer);
  const double dropped = run.network.residual_dropout;
  const bool before = run.network.norm_before;
  const auto normed = [&](std::string_view name, const Tensor& input) {
    return norm(run, name, weights(std::string(name) + ".weight"), weights(std::string(name) + ".bias"), input);
  };
  Tensor residual = hidden;
  if (before) hidden = normed("self_attn_layer_norm", hidden);
  Attended attended = self_attention(run, layer, hidden, mask);
  hidden = std::move(attended.output);
  hidden = dropout(c, hidden, dropped);
  hidden = add(c, residual, hidden);
  if (!before) hidden = normed("self_attn_layer_norm", hidden);
  const Extents sizes = hidden->sizes;
  hidden = reshape(c, hidden, {sizes[0] * sizes[1], sizes[2]});
  residual = hidden;
  if (before) hidden = normed("final_layer_norm", hidden);
  hidden = project(run, layer, "fc1", hidden);
  hidden = activate(c, run.network.activation, hidden);
  hidden = project(run, layer, "fc2", hidden);
  hidden = dropout(c, hidden, dropped);
  hidden = view(c, add(c, residual, hidden), sizes);
  if (!before) hidden = normed("final_layer_norm", hidden);
  return hidden;
}

/// The positions, counted from the mask of padding, or from one of ones.
struct Positions {
  Tensor mask, ids;
};

Positions positions_of(const Run& run) {
  Context& c = run.context;
  const Extents sizes{run.batch(), run.keys()};
  Positions positions{run.attention, {}};
  const DType type = positions.mask ? DType::int64 : DType::fp32;
  const auto width = static_cast<std::int64_t>(bytes_of(type));
  if (!positions.mask) {
    note_written(c, "aten::ones", static_cast<double>(width * sizes.product()));
    positions.mask = c.make(sizes, type, program::Role::input);
  }
  note_written(c, "aten::cumsum", 2.0 * static_cast<double>(width * sizes.product()));
  positions.ids = c.make(sizes, type);
  { const Tensor scan = c.scratch(run.batch() == 1 ? scan_bytes(run.keys(), width) : 0); }
  {
    Tensor masked = pointwise(c, "aten::mul", {&positions.ids, &positions.mask}, type);
    masked = pointwise(c, "aten::sub", {&masked}, type);
    positions.ids = cast(c, masked, DType::int64);
  }
  return positions;
}

Tensor model(const Run& run) {
  Context& c = run.context;
  const ModuleScope module(c, "model");
  const ModuleScope decoder(c, "decoder");
  const auto top = [&](std::string_view name) {
    return run.weights.top("model.decoder." + std::string(name) + ".weight");
  };
  Tensor embedded = embedding(c, run.tokens, top("embed_tokens"));
  const Positions positions = positions_of(run);
  const Tensor mask = causal_mask(run, embedded->type, false);
  const Tensor places = [&] {
    const Tensor last = slice(c, positions.ids, 1, run.queries());
    const Tensor shifted = pointwise(c, "aten::add", {&last}, DType::int64);
    return embedding(c, shifted, top("embed_positions"));
  }();
  if (top("project_in")) embedded = linear(c, embedded, top("project_in"), {});
  Tensor hidden = add(c, embedded, places);
  hidden = through_layers(run, std::move(hidden), [&](std::size_t layer) -> Layer {
    return [run, layer, mask, ids = positions.ids](Tensor input) {
      return decoder_layer(run, layer, std::move(input), mask);
    };
  });
  if (run.network.final_norm)
    hidden = norm(run, "final_layer_norm", top("final_layer_norm"),
                  run.weights.top("model.decoder.final_layer_norm.bias"), hidden);
  if (top("project_out")) hidden = linear(c, hidden, top("project_out"), {});
  return hidden;
}

}  // namespace

Tensor opt_forward(const Run& run) {
  const Tensor hidden = wanted_tokens(run, model(run));
  const Tensor logits = linear(run.context, hidden, run.weights.top("lm_head.weight"), {});
  return run.setup.train ? causal_loss(run.context, logits, run.labels) : logits;
}

}  // namespace ullage::lowering
