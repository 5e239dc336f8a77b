// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"
#include "model/family/parts.hpp"

namespace ullage::model {

Result<Model> opt(Config& config) {
  constexpr Size position_offset = 2;  // the first two rows of the position table are not used
  const Size vocabulary = config.size("vocab_size", 50272);
  const Size positions = config.size("max_position_embeddings", 2048);
  const Size hidden = config.size("hidden_size", 768);
  const Size word = config.size_or("word_embed_proj_dim", hidden, "hidden_size");
  const Size inner = config.size("ffn_dim", 3072);
  const Size layers = layer_count(config, "num_hidden_layers", 12);
  const Size heads = config.size("num_attention_heads", 12);
  const bool bias = config.flag("enable_bias", true);
  const bool affine = config.flag("layer_norm_elementwise_affine", true);
  const bool norm_before = config.flag("do_layer_norm_before", true);
  const bool final_norm = !config.flag("_remove_final_layer_norm", false) && norm_before;
  const bool tied = config.flag("tie_word_embeddings", true);
  check_heads_divide(config, "hidden_size", hidden, "num_attention_heads", heads);
  check_padding_token(config, vocabulary, 1);

  Tree tree("OPTForCausalLM");
  describe_decoder(tree.network(), {vocabulary, hidden, inner, layers, {heads, heads, hidden / heads}});
  Network& network = tree.network();
  network.rotary_width = 0;
  network.positions = positions;
  network.embedding_width = word;
  network.norm_before = norm_before;
  network.final_norm = final_norm;
  network.affine_norms = affine;
  network.attention_dropout = probability(config, "attention_dropout", 0);
  describe_activation(config, network, "activation_function", "relu");
  network.residual_dropout = probability(config, "dropout", 0.1);
  if (config.number("layerdrop", 0) > 0) network.not_planned = "layerdrop: layers that are left out at random";
  tree.embedding("model.decoder.embed_tokens", vocabulary, word);
  tree.embedding("model.decoder.embed_positions", positions + position_offset, hidden);
  if (word != hidden) {
    tree.linear("model.decoder.project_out", hidden, word, false);
    tree.linear("model.decoder.project_in", word, hidden, false);
  }
  if (final_norm) tree.layer_norm("model.decoder.final_layer_norm", hidden, affine);
  tree.layers("model.decoder.layers", layers, [&](Module& layer) {
    for (const char* projection : {"k_proj", "v_proj", "q_proj", "out_proj"})
      layer.linear(std::string("self_attn.") + projection, hidden, hidden, bias);
    layer.layer_norm("self_attn_layer_norm", hidden, affine);
    layer.linear("fc1", hidden, inner, bias);
    layer.linear("fc2", inner, hidden, bias);
    layer.layer_norm("final_layer_norm", hidden, affine);
  });
  tree.head("lm_head", word, vocabulary, tied, "model.decoder.embed_tokens");
  return std::move(tree).finish();
}

}  // namespace ullage::model
