// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> gpt_neox(Config& config) {
  const Size vocabulary = config.size("vocab_size", 50432);
  const Size hidden = config.size("hidden_size", 6144);
  const Size inner = config.size("intermediate_size", 24576);
  const Size layers = layer_count(config, "num_hidden_layers", 44);
  const Size heads = config.size("num_attention_heads", 64);
  const bool bias = config.flag("attention_bias", true);
  const bool tied = config.flag("tie_word_embeddings", false);
  const double rotated = config.number("rotary_pct", 0.25);
  check_heads_divide(config, "hidden_size", hidden, "num_attention_heads", heads);

  Tree tree("GPTNeoXForCausalLM");
  describe_decoder(tree.network(), {vocabulary, hidden, inner, layers, {heads, heads, hidden / heads}});
  Network& network = tree.network();
  network.attention_dropout = probability(config, "attention_dropout", 0);
  describe_activation(config, network, "hidden_act", "gelu");
  network.embedding_dropout = network.residual_dropout = probability(config, "hidden_dropout", 0);
  network.parallel_residual = config.flag("use_parallel_residual", true);
  tree.embedding("gpt_neox.embed_in", vocabulary, hidden);
  tree.layers("gpt_neox.layers", layers, [&](Module& layer) {
    layer.layer_norm("input_layernorm", hidden);
    layer.layer_norm("post_attention_layernorm", hidden);
    layer.linear("attention.query_key_value", hidden, 3 * hidden, bias);
    layer.linear("attention.dense", hidden, hidden, bias);
    layer.linear("mlp.dense_h_to_4h", hidden, inner, true);
    layer.linear("mlp.dense_4h_to_h", inner, hidden, true);
  });
  tree.layer_norm("gpt_neox.final_layer_norm", hidden);
  rotary_embedding(config, tree, {"gpt_neox.rotary_emb", hidden / heads, rotated, true, {}});
  tree.head("lm_head", hidden, vocabulary, tied, "gpt_neox.embed_in");
  return std::move(tree).finish();
}

}  // namespace ullage::model
