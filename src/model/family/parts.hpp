// SPDX-License-Identifier: Apache-2.0
// What several families share: attention heads, projections, gated feed-forward, rotary embedding, and their checks.
#pragma once

#include "model/config.hpp"
#include "model/tree.hpp"

#include <span>
#include <string_view>

namespace ullage::model {

/// Query heads, the key and value heads that they share, and the width of each.
struct Heads {
  Size query = 0, key_value = 0, width = 0;
};

/// The number of layers: 0 to 100,000.
[[nodiscard]] Size layer_count(Config& config, std::string_view field, Size fallback);

/// Refuses a hidden size that the heads do not divide.
void check_heads_divide(Config& config, std::string_view hidden_field, Size hidden, std::string_view heads_field,
                        Size heads);
/// Refuses key and value heads that the query heads cannot share evenly, and odd widths, which rotary embeddings
/// cannot halve.
void check_heads(Config& config, const Heads& heads);
/// Key and value heads: missing, the family's own number; null, one for each query head.
[[nodiscard]] Size key_value_heads(Config& config, Size query_heads, Size fallback);
/// `head_dim`, else hidden_size / num_attention_heads.
[[nodiscard]] Size head_width(Config& config, Size hidden, Size heads, bool null_allowed);
/// Refuses a padding token outside the vocabulary; `fallback` is the family's own token, nothing for none.
void check_padding_token(Config& config, Size vocabulary, std::optional<std::int64_t> fallback);
/// Refuses a list `layer_types` of another length, or with other kinds than full and sliding attention.
void check_layer_types(Config& config, Size layers);

/// Sizes that every decoder has.
struct DecoderSizes {
  Size vocabulary = 0, hidden = 0, inner = 0, layers = 0;
  Heads heads;
};
void describe_decoder(Network& network, const DecoderSizes& sizes);
/// A Llama-like decoder: with hidden_act and attention_dropout.
void describe_llama(Config& config, Network& network, const DecoderSizes& sizes);
/// The probability in a field; null is 0.
[[nodiscard]] double probability(Config& config, std::string_view field, double fallback);
/// The activation function in `field`, and a note where it is none that is planned.
void describe_activation(Config& config, Network& network, std::string_view field, std::string_view fallback);
/// The window in `field`; null, or absent without a fallback, for none.
void describe_window(Config& config, Network& network, std::optional<Size> fallback);
/// Which layers slide, from layer_types; `alternating` where the field is missing: every other, from the first.
void describe_sliding_layers(Config& config, Network& network, bool alternating);

/// Refuses layers that slide without a window: transformers makes no mask for them.
void check_window(Config& config, bool slides);

/// use_sliding_window, sliding_window and max_window_layers of the Qwen families.
void describe_qwen_window(Config& config, Network& network);

/// q_proj, k_proj, v_proj, o_proj.
void attention(Module& layer, Size hidden, const Heads& heads, bool qkv_bias, bool output_bias);
/// gate_proj, up_proj, down_proj.
void gated_mlp(Module& layer, Size hidden, Size inner, bool bias);

/// How a family turns its configuration into rotary frequencies.
struct Rotary {
  std::string_view module;  ///< model.rotary_emb
  Size head_width = 0;
  double part = 1;               ///< share of the head that is rotated, where rope_parameters do not say
  bool part_by_default = false;  ///< the type `default` heeds that share
  std::span<const std::string_view> types = {};  ///< types that the family takes; empty for all
};

/// The two buffers of a rotary embedding: inv_freq and original_inv_freq.
void rotary_embedding(Config& config, Tree& tree, const Rotary& rotary);

}  // namespace ullage::model
