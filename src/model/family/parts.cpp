// SPDX-License-Identifier: Apache-2.0
#include "model/family/parts.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::model {

Size layer_count(Config& config, std::string_view field, Size fallback) {
  constexpr Size most_layers = 100'000;
  const Size layers = config.size(field, fallback, 0);
  if (layers <= most_layers) return layers;
  config.refuse(field, fmt::format("{} layers", layers), fmt::format("at most {}", most_layers));
  return fallback;
}

void check_heads_divide(Config& config, std::string_view hidden_field, Size hidden, std::string_view heads_field,
                        Size heads) {
  if (hidden % heads == 0) return;
  config.refuse(hidden_field, fmt::format("{} is not a multiple of {} = {}", hidden, heads_field, heads),
                fmt::format("a multiple of {}", heads));
}

void check_heads(Config& config, const Heads& heads) {
  if (heads.query % heads.key_value != 0)
    config.refuse("num_key_value_heads", fmt::format("{} heads cannot share {}", heads.query, heads.key_value),
                  fmt::format("a divisor of num_attention_heads = {}", heads.query));
  if (heads.width > 4 && heads.width % 2 != 0)
    config.refuse("head_dim", fmt::format("rotary embeddings halve it, and {} is odd", heads.width), "an even number");
}

Size key_value_heads(Config& config, Size query_heads, Size fallback) {
  const std::string_view field = "num_key_value_heads";
  return config.is_null(field) ? config.size_or(field, query_heads, "num_attention_heads")
                               : config.size(field, fallback);
}

Size head_width(Config& config, Size hidden, Size heads, bool null_allowed) {
  if (!null_allowed && config.is_null("head_dim"))
    config.refuse("head_dim", "null is not a size", "a whole number from 1");
  const Size width = config.size_or("head_dim", hidden / heads, "hidden_size / num_attention_heads");
  if (width > 0) return width;
  config.refuse("hidden_size", fmt::format("{} is less than num_attention_heads = {}", hidden, heads),
                "at least one element a head");
  return 1;
}

void check_padding_token(Config& config, Size vocabulary, std::optional<std::int64_t> fallback) {
  const auto token = config.has("pad_token_id") ? config.whole("pad_token_id") : fallback;
  const auto size = static_cast<std::int64_t>(vocabulary);
  if (token && (*token >= size || *token < -size))
    config.refuse("pad_token_id", fmt::format("{} is not in a vocabulary of {}", *token, vocabulary),
                  fmt::format("null, or a number from 0 to {}", size - 1), "null for a model without padding");
}

void check_layer_types(Config& config, Size layers) {
  const auto types = config.texts("layer_types");
  if (!types) return;
  if (types->size() != layers)
    config.refuse("layer_types", fmt::format("a list of {} for {} layers", types->size(), layers), "one of each layer");
  for (const std::string& type : *types)
    if (type != "full_attention" && type != "sliding_attention")
      config.refuse("layer_types", fmt::format("'{}' is no kind of layer of this family", type.substr(0, 40)),
                    "full_attention or sliding_attention");
}

void describe_decoder(Network& network, const DecoderSizes& sizes) {
  network.vocabulary = sizes.vocabulary;
  network.hidden = sizes.hidden;
  network.inner = sizes.inner;
  network.layers = sizes.layers;
  network.heads = sizes.heads.query;
  network.key_value_heads = sizes.heads.key_value;
  network.head_width = network.rotary_width = sizes.heads.width;
}

double probability(Config& config, std::string_view field, double fallback) {
  if (config.is_null(field)) return 0;
  const double value = config.number(field, fallback);
  if (!(value >= 0 && value <= 1)) config.refuse(field, fmt::format("{} is no probability", value), "0 to 1");
  return value;
}

void describe_llama(Config& config, Network& network, const DecoderSizes& sizes) {
  describe_decoder(network, sizes);
  describe_activation(config, network, "hidden_act", "silu");
  network.attention_dropout = probability(config, "attention_dropout", 0);
}

void describe_activation(Config& config, Network& network, std::string_view field, std::string_view fallback) {
  const std::string name = config.text(field).value_or(std::string(fallback));
  network.activation = activation_named(name);
  if (network.activation == Activation::other)
    network.not_planned = fmt::format("{} = {}", field, printable(name, false));
}

void describe_window(Config& config, Network& network, std::optional<Size> fallback) {
  const auto window = config.whole("sliding_window");
  if (!config.has("sliding_window")) network.sliding_window = fallback;
  if (window && *window >= 0) network.sliding_window = static_cast<Size>(*window);
}

void describe_sliding_layers(Config& config, Network& network, bool alternating) {
  const auto types = config.texts("layer_types");
  for (Size layer = 0; layer < network.layers; ++layer)
    network.slides.push_back(types ? layer < types->size() && (*types)[layer] == "sliding_attention"
                                   : alternating && layer % 2 == 0);
}

void check_window(Config& config, bool slides) {
  if (slides && config.is_null("sliding_window"))
    config.refuse("sliding_window", "null, but there are layers that slide", "a number of tokens",
                  "layer_types of full_attention alone need none");
}

void describe_qwen_window(Config& config, Network& network) {
  const bool slides = config.flag("use_sliding_window", false);
  if (slides) describe_window(config, network, 4096);
  const Size full = config.size("max_window_layers", 28, 0);
  describe_sliding_layers(config, network, false);
  if (!config.has("layer_types") || config.is_null("layer_types"))
    for (Size layer = 0; layer < network.layers; ++layer)
      network.slides[layer] = network.sliding_window.has_value() && layer >= full;
  const bool any = std::ranges::find(network.slides, true) != network.slides.end();
  if (any && !slides)
    config.refuse("use_sliding_window", "false, but layer_types has sliding_attention", "true with a sliding_window",
                  "layer_types of full_attention alone need no window");
  check_window(config, any);
}

void attention(Module& layer, Size hidden, const Heads& heads, bool qkv_bias, bool output_bias) {
  layer.linear("self_attn.q_proj", hidden, heads.query * heads.width, qkv_bias);
  layer.linear("self_attn.k_proj", hidden, heads.key_value * heads.width, qkv_bias);
  layer.linear("self_attn.v_proj", hidden, heads.key_value * heads.width, qkv_bias);
  layer.linear("self_attn.o_proj", heads.query * heads.width, hidden, output_bias);
}

void gated_mlp(Module& layer, Size hidden, Size inner, bool bias) {
  layer.linear("mlp.gate_proj", hidden, inner, bias);
  layer.linear("mlp.up_proj", hidden, inner, bias);
  layer.linear("mlp.down_proj", inner, hidden, bias);
}

}  // namespace ullage::model
