// SPDX-License-Identifier: Apache-2.0
#include "model/families.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::model {
namespace {

/// A small llama with the given fields instead of its own.
std::string llama_with(const std::string& fields) {
  return R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
             "intermediate_size": 96, "vocab_size": 100)" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

std::string refusal(const std::string& json) {
  const auto model = describe(json, "config.json");
  return model ? "" : model.error().what;
}

TEST(Families, NamesAreThoseOfTransformers) {
  const Model model = describe(llama_with(""), "config.json").value();
  std::vector<std::string> names;
  for_each_parameter(model, [&](const Group& group, std::uint64_t index, const Parameter& parameter) {
    names.push_back(full_name(group, parameter, std::to_string(index)));
  });
  ASSERT_EQ(names.size(), 1u + 2 * 9 + 2);
  EXPECT_EQ(names.front(), "model.embed_tokens.weight");
  EXPECT_EQ(names[1], "model.layers.0.self_attn.q_proj.weight");
  EXPECT_EQ(names[18], "model.layers.1.post_attention_layernorm.weight");
  EXPECT_EQ(names.back(), "lm_head.weight");
}

TEST(Families, AMissingFieldIsAssumedAndListed) {
  const Model model = describe(llama_with(R"("architectures": ["LlamaForCausalLM"])"), "config.json").value();
  EXPECT_EQ(model.assumed.front(), "num_key_value_heads = 4 (num_attention_heads)");
  EXPECT_EQ(model.ignored, std::vector<std::string>{"architectures"});
}

TEST(Families, TiedStorageCountsOnce) {
  const Model tied = describe(llama_with(R"("tie_word_embeddings": true)"), "").value();
  const Model untied = describe(llama_with(""), "").value();
  EXPECT_EQ(parameter_count(untied) - parameter_count(tied), 100u * 64);
  EXPECT_EQ(tied.groups.back().parameters.back().tied_to, "model.embed_tokens.weight");
}

TEST(Families, AnUnknownFamilyNamesTheNearest) {
  const auto model = describe(R"({"model_type": "lama"})", "config.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().hint, "did you mean 'llama'?");
  EXPECT_NE(model.error().expected.find("gemma2 gpt2"), std::string::npos);
  EXPECT_EQ(refusal("{}"), "model_type: missing");
  EXPECT_EQ(refusal(R"({"model_type": null})"), "model_type: null is not a text");
}

/// A small model of a family whose layers may slide.
std::string sliding(const std::string& family, const std::string& fields) {
  return R"({"model_type": ")" + family + R"(", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4,
             "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 100, "pad_token_id": 0, )" +
         fields + "}";
}

TEST(Families, LayersThatSlideNeedAWindow) {
  const std::string slides = R"("layer_types": ["full_attention", "sliding_attention"])";
  const std::string full = R"("layer_types": ["full_attention", "full_attention"])";
  const std::string on = R"("use_sliding_window": true)", none = R"("sliding_window": null)";
  const std::string refused = "sliding_window: null, but there are layers that slide";
  for (const char* family : {"qwen2", "qwen3"}) {
    EXPECT_EQ(refusal(sliding(family, slides)), "use_sliding_window: false, but layer_types has sliding_attention");
    EXPECT_EQ(refusal(sliding(family, slides + "," + on + "," + none)), refused);
    EXPECT_EQ(refusal(sliding(family, slides + "," + on)), "");
    EXPECT_EQ(refusal(sliding(family, full + "," + none)), "");
    EXPECT_EQ(refusal(sliding(family, R"("max_window_layers": 0, )" + on + "," + none)), "");
  }
  EXPECT_EQ(refusal(sliding("gemma2", none)), refused);
  EXPECT_EQ(refusal(sliding("gemma2", full + "," + none)), refused);  // its mask is made even so
  EXPECT_EQ(refusal(sliding("gemma2", slides)), "");
}

TEST(Families, LayerTypesOfNullAreDerived) {
  const auto model = describe(
      sliding("qwen2", R"("layer_types": null, "use_sliding_window": true, "max_window_layers": 1)"), "config.json");
  EXPECT_EQ(model.value().network.slides, (std::vector<bool>{false, true}));
}

TEST(Families, RefusalsNameTheField) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("hidden_size": 66)", "hidden_size: 66 is not a multiple"},
      {R"("num_key_value_heads": 3)", "num_key_value_heads: 4 heads cannot share 3"},
      {R"("head_dim": 17)", "head_dim: rotary"},
      {R"("pad_token_id": 100)", "pad_token_id: 100"},
      {R"("attention_bias": 1)", "attention_bias: 1 is not a flag"},
      {R"("rms_norm_eps": "a")", "rms_norm_eps: 'a'"},
      {R"("attention_dropout": 2.0)", "attention_dropout: 2 is no probability"},
      {R"("attention_dropout": -0.1)", "attention_dropout: -0.1 is no probability"},
      {R"("hidden_act": "sillu")", "hidden_act: the activation 'sillu'"},
      {R"("hidden_act": "xielu")", "hidden_act: the activation 'xielu'"},
      {R"("rope_scaling": {"rope_type": "linear"})", "rope_scaling.factor: missing"},
      {R"("rope_scaling": {"rope_type": "liner", "factor": 2})", "rope_scaling.rope_type: 'liner'"},
      {R"("rope_scaling": 3)", "rope_scaling: 3 is not an object"},
      {R"("quantization_config": {})", "quantization_config: "},
      {R"("num_hidden_layers": 100001)", "num_hidden_layers: 100001 layers"},
  };
  for (const auto& [fields, message] : cases)
    EXPECT_EQ(refusal(llama_with(fields)).find(message), 0u) << fields << refusal(llama_with(fields));
}

TEST(Families, OverflowIsAnErrorNotAnAnswer) {
  const auto model = describe(llama_with(R"("hidden_size": 2147483640)"), "config.json");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::bad_input);
  EXPECT_NE(model.error().where.find("model.layers.*.self_attn.q_proj.weight"), std::string::npos);
}

/// Whatever the numbers: an answer within the limit, or an error that names something.
TEST(Families, HostileNumbersNeverOverflow) {
  rc::check([] {
    const auto family = *rc::gen::elementOf(std::vector<Family>(families().begin(), families().end()));
    std::string json = fmt::format(R"({{"model_type": "{}")", family.model_type);
    for (const char* field :
         {"vocab_size", "hidden_size", "n_embd", "num_hidden_layers", "n_layer", "num_attention_heads",
          "num_key_value_heads", "head_dim", "intermediate_size", "ffn_dim", "n_inner"})
      if (*rc::gen::arbitrary<bool>())
        json += fmt::format(
            R"(, "{}": {})", field,
            *rc::gen::elementOf(std::vector<std::int64_t>{-1, 0, 1, 2, 64, 4096, 2147483647, 2147483648, INT64_MAX}));
    const auto model = describe(json + "}", "config.json");
    if (model)
      RC_ASSERT(parameter_count(*model) <= most_elements);
    else
      RC_ASSERT(!model.error().what.empty());
  });
}

}  // namespace
}  // namespace ullage::model
