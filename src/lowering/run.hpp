// SPDX-License-Identifier: Apache-2.0
// What a family's forward pass is given, and the parts that several families are built of.
#pragma once

#include "lowering/checkpoint.hpp"
#include "lowering/lower.hpp"
#include "lowering/operators.hpp"
#include "lowering/weights.hpp"
#include "model/network.hpp"

namespace ullage::lowering {

/// One forward pass.
struct Run {
  Context& context;
  const Weights& weights;
  const model::Network& network;
  const Setup& setup;
  Tensor tokens;  ///< input_ids, and labels
};

/// Parameters of one layer, or of the top level below a name.
class Scope {
 public:
  Scope(const Run& run, std::size_t layer) : run_(run), layer_(layer) {}
  [[nodiscard]] Tensor operator()(std::string_view name) const { return run_.weights.layer(layer_, name); }

 private:
  const Run& run_;
  std::size_t layer_;
};

/// nn.Linear of a layer: `name`.weight, and `name`.bias if there is one.
[[nodiscard]] Tensor project(const Run& run, std::size_t layer, std::string_view name, const Tensor& input);
[[nodiscard]] Tensor rms_norm(const Run& run, std::string_view name, const Tensor& weight, Tensor hidden);
[[nodiscard]] Tensor activate(Context& context, model::Activation activation, const Tensor& input);
/// down(act(gate(x)) * up(x))
[[nodiscard]] Tensor gated_mlp(const Run& run, std::size_t layer, const Tensor& input);

/// cos and sin of all positions.
struct Rotary {
  Tensor cosine, sine;
};
[[nodiscard]] Rotary rotary_embedding(const Run& run, const Tensor& positions, DType type);
/// q * cos + rotate_half(q) * sin
[[nodiscard]] Tensor rotated(Context& context, const Tensor& heads, const Rotary& rotary);
void load_rotary(Context& context, std::int64_t width, std::vector<Tensor>& buffers);

/// position_ids of the tokens, and the look whether they are packed sequences, as transformers prepares a mask.
[[nodiscard]] Tensor position_ids(const Run& run);
void look_for_packed_sequences(const Run& run);
/// The causal mask of transformers' create_causal_mask for tokens without padding: [batch, 1, tokens, tokens] of `type`
/// for eager attention, nothing for SDPA.
[[nodiscard]] Tensor causal_mask(const Run& run, DType type);

/// The attention that the setup names, of [batch, heads, tokens, width]; the result is [batch, tokens, heads * width].
[[nodiscard]] Tensor attend(const Run& run, Tensor query, Tensor key, Tensor value, const Tensor& mask);

/// Calls `layer` for each layer, as a checkpointed region where the setup says so.
[[nodiscard]] Tensor through_layers(const Run& run, Tensor hidden,
                                    const std::function<Tensor(std::size_t layer, Tensor hidden)>& layer);

// families: from tokens to the loss
[[nodiscard]] Tensor llama_forward(const Run& run);

}  // namespace ullage::lowering
