// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/model_dimensions.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <initializer_list>
#include <string_view>

namespace ullage::ingest {
namespace {

constexpr std::size_t config_bytes_at_most = 16 << 20;

std::uint64_t number(const rapidjson::Value& config, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = config.FindMember(name);
    if (found != config.MemberEnd() && found->value.IsUint64()) return found->value.GetUint64();
  }
  return 0;
}

std::string text(const rapidjson::Value& config, const char* name) {
  const auto found = config.FindMember(name);
  return found != config.MemberEnd() && found->value.IsString() ? found->value.GetString() : "";
}

// Three matrices: SwiGLU and its relatives.
bool gated(const rapidjson::Value& config) {
  const std::string type = text(config, "model_type");
  return text(config, "hidden_act") == "silu" || type.starts_with("gemma") || type.starts_with("llama");
}

ModelDimensions dimensions_of(const rapidjson::Value& config) {
  ModelDimensions model;
  model.hidden = number(config, {"hidden_size", "n_embd", "d_model", "dim"});
  model.heads = number(config, {"num_attention_heads", "n_head", "num_heads", "n_heads"});
  model.kv_heads = number(config, {"num_key_value_heads", "num_kv_heads", "n_kv_heads"});
  model.head = number(config, {"head_dim", "d_kv"});
  model.layers = number(config, {"num_hidden_layers", "n_layer", "num_layers", "n_layers"});
  model.vocabulary = number(config, {"vocab_size", "padded_vocab_size"});
  model.intermediate = number(config, {"intermediate_size", "n_inner", "ffn_dim", "d_ff"});
  complete(model);
  model.gated = gated(config);
  const auto tied = config.FindMember("tie_word_embeddings");
  model.tied = tied != config.MemberEnd() && tied->value.IsBool() ? tied->value.GetBool() : !model.gated;
  return model;
}

}  // namespace

Result<ModelDimensions> read_model_dimensions(Source& source) {
  std::string bytes(config_bytes_at_most, '\0');
  bytes.resize(source.read(std::as_writable_bytes(std::span(bytes))));
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(bytes.data(), bytes.size());
  if (document.HasParseError())
    return fail(ErrorKind::bad_input, rapidjson::GetParseError_En(document.GetParseError()),
                source.name() + ", byte " + std::to_string(document.GetErrorOffset()), "a model's config.json");
  if (document.IsObject()) {
    const ModelDimensions model = dimensions_of(document);
    if (model.hidden > 0) return model;
    for (const char* name : {"text_config", "llm_config", "language_config", "thinker_config"}) {
      const rapidjson::Value& root = document;
      const auto nested = root.FindMember(name);
      if (nested == root.MemberEnd() || !nested->value.IsObject()) continue;
      if (const ModelDimensions inner = dimensions_of(nested->value); inner.hidden > 0) return inner;
    }
  }
  return fail(ErrorKind::bad_input, "there are no dimensions of a language model in it", source.name(),
              "a config.json with hidden_size, num_attention_heads ...");
}

}  // namespace ullage::ingest
