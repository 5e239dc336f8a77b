// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> qwen3(Config& config) {
  const Size vocabulary = config.size("vocab_size", 151936);
  const Size hidden = config.size("hidden_size", 4096);
  const Size inner = config.size("intermediate_size", 22016);
  const Size layers = layer_count(config, "num_hidden_layers", 32);
  Heads heads;
  heads.query = config.size("num_attention_heads", 32);
  heads.key_value = key_value_heads(config, heads.query, 32);
  heads.width = config.size("head_dim", 128);
  const bool bias = config.flag("attention_bias", false);
  const bool tied = config.flag("tie_word_embeddings", false);
  check_heads(config, heads);
  check_padding_token(config, vocabulary, std::nullopt);
  check_layer_types(config, layers);

  Tree tree("Qwen3ForCausalLM");
  describe_llama(config, tree.network(), {vocabulary, hidden, inner, layers, heads});
  describe_qwen_window(config, tree.network());
  tree.embedding("model.embed_tokens", vocabulary, hidden);
  tree.layers("model.layers", layers, [&](Module& layer) {
    attention(layer, hidden, heads, bias, bias);
    layer.rms_norm("self_attn.q_norm", heads.width);
    layer.rms_norm("self_attn.k_norm", heads.width);
    gated_mlp(layer, hidden, inner, false);
    layer.rms_norm("input_layernorm", hidden);
    layer.rms_norm("post_attention_layernorm", hidden);
  });
  tree.rms_norm("model.norm", hidden);
  rotary_embedding(config, tree, {"model.rotary_emb", heads.width});
  tree.head("lm_head", hidden, vocabulary, tied, "model.embed_tokens");
  return std::move(tree).finish();
}

}  // namespace ullage::model
