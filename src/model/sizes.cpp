// SPDX-License-Identifier: Apache-2.0
#include "model/sizes.hpp"

namespace ullage::model {
namespace {

using Fields = std::array<std::string_view, size_count>;

constexpr Fields usual{"num_hidden_layers",   "hidden_size",       "num_attention_heads",
                       "num_key_value_heads", "intermediate_size", "vocab_size"};

/// By SizeOf; empty where the family has no such size.
Fields fields_of(std::string_view family) {
  Fields fields = usual;
  if (family == "gpt2") return {"n_layer", "n_embd", "n_head", "", "n_inner", "vocab_size"};
  if (family == "gpt_neox" || family == "opt") fields[static_cast<std::size_t>(SizeOf::key_value_heads)] = "";
  if (family == "opt") fields[static_cast<std::size_t>(SizeOf::intermediate)] = "ffn_dim";
  return fields;
}

}  // namespace

std::string bare_config(std::string_view family, std::optional<std::uint64_t> positions) {
  std::string json = R"({"model_type": ")";
  for (const char c : family)
    if (c >= ' ' && c != '"' && c != '\\') json += c;
  json += '"';
  if (positions) json += R"(, "max_position_embeddings": )" + std::to_string(*positions);
  return json + "}";
}

void replace_sizes(Config& config, std::string_view family, const Sizes& sizes) {
  const Fields fields = fields_of(family);
  for (std::size_t i = 0; i < size_count; ++i) {
    if (!sizes[i]) continue;
    if (fields[i].empty())
      config.refuse(usual[i], "this family has no such size", "sizes of " + std::string(family));
    else
      config.replace(fields[i], *sizes[i]);
    if (fields[i] != usual[i]) config.drop(usual[i]);  // the other name of the same would win
  }
  if (sizes[static_cast<std::size_t>(SizeOf::layers)]) config.drop("layer_types");
}

}  // namespace ullage::model
