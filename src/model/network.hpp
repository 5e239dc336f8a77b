// SPDX-License-Identifier: Apache-2.0
// What a forward pass needs to know of a model beyond its parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::model {

/// Which activation function: those of transformers' ACT2FN that are made of different operators.
enum class Activation : std::uint8_t { silu, gelu, gelu_tanh, gelu_new, gelu_fast, quick_gelu, relu, other };

/// The activation of that name in a configuration; `other` for one that no rule describes.
[[nodiscard]] Activation activation_named(const std::string& name);

/// Sizes are counts of elements, widths those of one attention head.
struct Network {
  std::uint64_t vocabulary = 0, hidden = 0, inner = 0, layers = 0;
  std::uint64_t heads = 0, key_value_heads = 0, head_width = 0, rotary_width = 0;
  std::uint64_t embedding_width = 0;  ///< OPT's word_embed_proj_dim
  std::uint64_t positions = 0;        ///< the longest sequence where positions are learned; 0 for none
  Activation activation = Activation::silu;
  std::string activation_name;
  double embedding_dropout = 0, attention_dropout = 0, residual_dropout = 0;
  bool parallel_residual = false;  ///< GPT-NeoX
  bool norm_before = true;         ///< OPT's do_layer_norm_before
  bool final_norm = true, affine_norms = true;
  std::optional<std::uint64_t> sliding_window;  ///< of the layers that slide
  std::vector<bool> slides;                     ///< by layer; empty: all do, where there is a window
  bool scores_softcap = false, logits_softcap = false;
  std::string not_planned;  ///< what no rule of the forward pass describes; empty for nothing
};

}  // namespace ullage::model
