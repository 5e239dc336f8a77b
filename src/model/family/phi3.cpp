// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> phi3(Config& config) {
  static constexpr std::string_view rope_types[] = {"default", "longrope"};
  const Size vocabulary = config.size("vocab_size", 32064);
  const Size hidden = config.size("hidden_size", 3072);
  const Size inner = config.size("intermediate_size", 8192);
  const Size layers = layer_count(config, "num_hidden_layers", 32);
  Heads heads;
  heads.query = config.size("num_attention_heads", 32);
  heads.key_value = config.size_or("num_key_value_heads", heads.query, "num_attention_heads");
  heads.width = head_width(config, hidden, heads.query, false);
  const bool tied = config.flag("tie_word_embeddings", false);
  const double rotated = config.number("partial_rotary_factor", 1);
  check_heads(config, heads);
  check_padding_token(config, vocabulary, 32000);

  Tree tree("Phi3ForCausalLM");
  describe_llama(config, tree.network(), {vocabulary, hidden, inner, layers, heads});
  describe_window(config, tree.network(), std::nullopt);
  tree.network().residual_dropout = probability(config, "resid_pdrop", 0);
  tree.embedding("model.embed_tokens", vocabulary, hidden);
  tree.layers("model.layers", layers, [&](Module& layer) {
    layer.linear("self_attn.o_proj", heads.query * heads.width, hidden, false);
    layer.linear("self_attn.qkv_proj", hidden, (heads.query + 2 * heads.key_value) * heads.width, false);
    layer.linear("mlp.gate_up_proj", hidden, 2 * inner, false);
    layer.linear("mlp.down_proj", inner, hidden, false);
    layer.rms_norm("input_layernorm", hidden);
    layer.rms_norm("post_attention_layernorm", hidden);
  });
  tree.rms_norm("model.norm", hidden);
  rotary_embedding(config, tree, {"model.rotary_emb", heads.width, rotated, true, rope_types});
  tree.head("lm_head", hidden, vocabulary, tied, "model.embed_tokens");
  return std::move(tree).finish();
}

}  // namespace ullage::model
