// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> gemma2(Config& config) {
  const Size vocabulary = config.size("vocab_size", 256000);
  const Size hidden = config.size("hidden_size", 2304);
  const Size inner = config.size("intermediate_size", 9216);
  const Size layers = layer_count(config, "num_hidden_layers", 26);
  Heads heads;
  heads.query = config.size("num_attention_heads", 8);
  heads.key_value = config.size("num_key_value_heads", 4);
  heads.width = config.size("head_dim", 256);
  const bool bias = config.flag("attention_bias", false);
  const bool tied = config.flag("tie_word_embeddings", true);
  check_heads_divide(config, "hidden_size", hidden, "num_attention_heads", heads.query);
  check_heads(config, heads);
  check_padding_token(config, vocabulary, 0);
  check_layer_types(config, layers);

  Tree tree("Gemma2ForCausalLM");
  describe_decoder(tree.network(), {vocabulary, hidden, inner, layers, heads});
  Network& network = tree.network();
  network.attention_dropout = probability(config, "attention_dropout", 0);
  describe_activation(config, network, "hidden_activation", "gelu_pytorch_tanh");
  describe_window(config, network, 4096);
  check_window(config, true);  // its mask is made whatever the layers are
  describe_sliding_layers(config, network, true);
  network.scores_softcap = !config.is_null("attn_logit_softcapping");
  network.logits_softcap = !config.is_null("final_logit_softcapping");
  tree.embedding("model.embed_tokens", vocabulary, hidden);
  tree.buffer("model.embed_tokens.embed_scale", 1, false);
  tree.layers("model.layers", layers, [&](Module& layer) {
    attention(layer, hidden, heads, bias, bias);
    gated_mlp(layer, hidden, inner, false);
    layer.rms_norm("input_layernorm", hidden);
    layer.rms_norm("post_attention_layernorm", hidden);
    layer.rms_norm("pre_feedforward_layernorm", hidden);
    layer.rms_norm("post_feedforward_layernorm", hidden);
  });
  tree.rms_norm("model.norm", hidden);
  rotary_embedding(config, tree, {"model.rotary_emb", heads.width});
  tree.head("lm_head", hidden, vocabulary, tied, "model.embed_tokens");
  return std::move(tree).finish();
}

}  // namespace ullage::model
