// SPDX-License-Identifier: Apache-2.0
// What a family's forward pass is given, and the parts that several families are built of.
#pragma once

#include "lowering/cache.hpp"
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
  Tensor tokens;                   ///< input_ids, [sequences, tokens]
  Tensor labels;                   ///< the tokens, or a copy without the padding; empty in inference
  Tensor attention;                ///< attention_mask of int64, 0 for padding; empty for none
  KeyValueCache* cache = nullptr;  ///< of inference that goes on token by token
  [[nodiscard]] std::int64_t batch() const { return tokens->sizes[0]; }
  [[nodiscard]] std::int64_t queries() const { return tokens->sizes[1]; }
  /// Keys that the queries attend to.
  [[nodiscard]] std::int64_t keys(bool sliding = false) const {
    return cache != nullptr ? cache->keys_of(queries(), sliding) : queries();
  }
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
[[nodiscard]] Tensor norm(const Run& run, std::string_view name, const Tensor& weight, const Tensor& bias,
                          const Tensor& input);  ///< nn.LayerNorm
/// down(act(gate(x)) * up(x))
[[nodiscard]] Tensor gated_mlp(const Run& run, std::size_t layer, const Tensor& input);

/// cos and sin of all positions.
struct Rotary {
  Tensor cosine, sine;
};
[[nodiscard]] Rotary rotary_embedding(const Run& run, DType type);
/// q * cos + rotate_half(q) * sin
[[nodiscard]] Tensor rotated(Context& context, const Tensor& heads, const Rotary& rotary);
struct Turned {
  Tensor query, key;
};
/// The first elements of each head rotated, and joined to the rest, which may be nothing: one after the other, or both
/// rotated first.
[[nodiscard]] Turned rotated_parts(Context& context, const Tensor& query, const Tensor& key, const Rotary& rotary,
                                   bool one_by_one);
void load_rotary(Context& context, std::int64_t width, std::vector<Tensor>& buffers);

/// [1, tokens]
[[nodiscard]] Tensor position_ids(const Run& run);
/// The causal mask of create_causal_mask or, if `sliding`, create_sliding_window_causal_mask: [batch, 1, tokens,
/// tokens] of `type` for eager attention, of bool for SDPA, which needs none where is_causal will do. With position ids
/// and without padding it is looked first whether sequences are packed.
[[nodiscard]] Tensor causal_mask(const Run& run, DType type, bool knows_positions, bool sliding = false);

/// What an attention returns: its callers keep the weights of eager attention as long as they run.
struct Attended {
  Tensor output;   ///< [batch, tokens, heads * width]
  Tensor weights;  ///< [batch, heads, tokens, tokens]; empty for SDPA
};
/// The attention that the setup names, of [batch, heads, tokens, width].
[[nodiscard]] Attended attend(const Run& run, Tensor query, Tensor key, Tensor value, const Tensor& mask);

/// Keys and values of a layer with those of the cache, where there is one.
void remember(const Run& run, std::size_t layer, Tensor& key, Tensor& value);
/// The hidden states whose logits are wanted: with a cache the last token's (logits_to_keep=1).
[[nodiscard]] Tensor wanted_tokens(const Run& run, const Tensor& hidden);

/// One layer with what it is given, as a checkpointed region keeps it.
using Layer = std::function<Tensor(Tensor hidden)>;
/// Runs every layer, as a checkpointed region where the setup says so.
[[nodiscard]] Tensor through_layers(const Run& run, Tensor hidden,
                                    const std::function<Layer(std::size_t layer)>& layer);

/// What the layers of a rotary family are given.
struct Shared {
  Tensor positions, mask, sliding_mask;
  Rotary rotary;
  /// The same with the mask of one layer alone.
  [[nodiscard]] Shared of(const Run& run, std::size_t layer) const;
};

/// Positions, masks and rotary embedding of a Llama-like model whose hidden states are of `type`.
[[nodiscard]] Shared shared_inputs(const Run& run, DType type);
/// A projection seen as [batch, tokens, heads, width].
[[nodiscard]] Tensor split_heads(const Run& run, const Tensor& projected);
/// The same as [batch, heads, tokens, width].
[[nodiscard]] Tensor heads_of(const Run& run, const Tensor& projected);
// families: from tokens to the loss
[[nodiscard]] Tensor gemma2_forward(const Run& run);
[[nodiscard]] Tensor gpt2_forward(const Run& run);
[[nodiscard]] Tensor gpt_neox_forward(const Run& run);
[[nodiscard]] Tensor llama_forward(const Run& run);  ///< Mistral, Qwen2, Qwen3 and Phi-3 too
[[nodiscard]] Tensor opt_forward(const Run& run);
/// Of a model_type; null for none.
using Forward = Tensor (*)(const Run& run);
[[nodiscard]] Forward forward_of(std::string_view model_type);

}  // namespace ullage::lowering
