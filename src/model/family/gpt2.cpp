// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> gpt2(Config& config) {
  config.alias("hidden_size", "n_embd");
  config.alias("num_hidden_layers", "n_layer");
  config.alias("num_attention_heads", "n_head");
  config.alias("max_position_embeddings", "n_positions");
  const Size vocabulary = config.size("vocab_size", 50257);
  const Size positions = config.size("n_positions", 1024);
  const Size hidden = config.size("n_embd", 768);
  const Size layers = layer_count(config, "n_layer", 12);
  const Size heads = config.size("n_head", 12);
  const Size inner = config.size_or("n_inner", 4 * hidden, "4 n_embd");
  const bool cross = config.flag("add_cross_attention", false);
  const bool tied = config.flag("tie_word_embeddings", true);
  check_heads_divide(config, "n_embd", hidden, "n_head", heads);

  Tree tree("GPT2LMHeadModel");
  describe_decoder(tree.network(), {vocabulary, hidden, inner, layers, {heads, heads, hidden / heads}});
  Network& network = tree.network();
  network.rotary_width = 0;
  network.positions = positions;
  describe_activation(config, network, "activation_function", "gelu_new");
  network.embedding_dropout = probability(config, "embd_pdrop", 0.1);
  network.attention_dropout = probability(config, "attn_pdrop", 0.1);
  network.residual_dropout = probability(config, "resid_pdrop", 0.1);
  if (cross) network.not_planned = "add_cross_attention";
  if (config.flag("reorder_and_upcast_attn", false)) network.not_planned = "reorder_and_upcast_attn";
  tree.embedding("transformer.wte", vocabulary, hidden);
  tree.embedding("transformer.wpe", positions, hidden);
  tree.layers("transformer.h", layers, [&](Module& layer) {
    layer.layer_norm("ln_1", hidden);
    layer.conv1d("attn.c_attn", hidden, 3 * hidden);
    layer.conv1d("attn.c_proj", hidden, hidden);
    layer.layer_norm("ln_2", hidden);
    if (cross) {
      layer.conv1d("crossattention.c_attn", hidden, 2 * hidden);
      layer.conv1d("crossattention.q_attn", hidden, hidden);
      layer.conv1d("crossattention.c_proj", hidden, hidden);
      layer.layer_norm("ln_cross_attn", hidden);
    }
    layer.conv1d("mlp.c_fc", hidden, inner);
    layer.conv1d("mlp.c_proj", inner, hidden);
  });
  tree.layer_norm("transformer.ln_f", hidden);
  tree.head("lm_head", hidden, vocabulary, tied, "transformer.wte");
  return std::move(tree).finish();
}

}  // namespace ullage::model
