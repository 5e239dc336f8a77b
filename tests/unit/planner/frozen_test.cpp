// SPDX-License-Identifier: Apache-2.0
#include "planner/frozen.hpp"

#include "model/families.hpp"

#include <gtest/gtest.h>

namespace ullage::planner {
namespace {

model::Model small(const std::string& fields) {
  return model::describe(
             R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 12,
                             "intermediate_size": 96, "vocab_size": 100)" +
                 fields + "}",
             "")
      .value();
}

std::size_t frozen(const model::Model& model, const std::vector<std::string>& patterns) {
  const auto flags = frozen_parameters(model, patterns).value();
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
}

TEST(Patterns, StarsAndQuestionMarks) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("a*b*c", "a.xx.b.yy.b.c"));
  EXPECT_TRUE(matches("model.layers.?.mlp.*", "model.layers.3.mlp.up_proj.weight"));
  EXPECT_FALSE(matches("model.layers.?.mlp.*", "model.layers.13.mlp.up_proj.weight"));
  EXPECT_FALSE(matches("a*b", "a.b.c"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches(std::string(40, '*') + "b", std::string(5000, 'a')));
}

TEST(Frozen, CountsTheNamesThatMatch) {
  const model::Model model = small("");
  EXPECT_EQ(frozen(model, {"model.layers.1.*"}), 9u);
  EXPECT_EQ(frozen(model, {"*norm*"}), 2u * 12 + 1);
  EXPECT_EQ(frozen(model, {"*norm*", "model.norm.weight"}), 2u * 12 + 1);
  EXPECT_EQ(frozen(model, {"*"}), 1u + 9 * 12 + 2);
  EXPECT_TRUE(frozen_parameters(model, {}).value().empty());
}

TEST(Frozen, ASharedStorageIsFrozenByAnyOfItsNames) {
  const model::Model tied = small(R"(, "tie_word_embeddings": true)");
  EXPECT_EQ(frozen(tied, {"lm_head.weight"}), 2u);
  EXPECT_EQ(frozen(tied, {"model.embed_tokens.weight"}), 2u);
}

TEST(Frozen, APatternThatMatchesNothingIsAMistake) {
  const auto result = frozen_parameters(small(""), {"transformer.*"});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::usage);
  EXPECT_NE(result.error().hint.find("model.layers."), std::string::npos);
}

}  // namespace
}  // namespace ullage::planner
