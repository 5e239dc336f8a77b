// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> llama(Config& config) {
  const Size vocabulary = config.size("vocab_size", 32000);
  const Size hidden = config.size("hidden_size", 4096);
  const Size inner = config.size("intermediate_size", 11008);
  const Size layers = layer_count(config, "num_hidden_layers", 32);
  Heads heads;
  heads.query = config.size("num_attention_heads", 32);
  heads.key_value = config.size_or("num_key_value_heads", heads.query, "num_attention_heads");
  heads.width = head_width(config, hidden, heads.query, true);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const bool tied = config.flag("tie_word_embeddings", false);
  check_heads_divide(config, "hidden_size", hidden, "num_attention_heads", heads.query);
  check_heads(config, heads);
  check_padding_token(config, vocabulary, std::nullopt);

  Tree tree("LlamaForCausalLM");
  describe_llama(config, tree.network(), {vocabulary, hidden, inner, layers, heads});
  tree.embedding("model.embed_tokens", vocabulary, hidden);
  tree.layers("model.layers", layers, [&](Module& layer) {
    attention(layer, hidden, heads, attention_bias, attention_bias);
    gated_mlp(layer, hidden, inner, mlp_bias);
    layer.rms_norm("input_layernorm", hidden);
    layer.rms_norm("post_attention_layernorm", hidden);
  });
  tree.rms_norm("model.norm", hidden);
  rotary_embedding(config, tree, {"model.rotary_emb", heads.width});
  tree.head("lm_head", hidden, vocabulary, tied, "model.embed_tokens");
  return std::move(tree).finish();
}

}  // namespace ullage::model
