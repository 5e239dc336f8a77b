// SPDX-License-Identifier: Apache-2.0
// The numbers that go round, by the rules that they come from.
#include "planner/rules.hpp"

#include <gtest/gtest.h>

namespace ullage::planner {
namespace {

model::Network gpt(std::uint64_t hidden, std::uint64_t layers, std::uint64_t heads) {
  model::Network network;
  network.hidden = hidden, network.layers = layers, network.heads = heads;
  return network;
}

RuleInput input_of(double parameters, double micro_batch, double sequence, std::uint64_t checkpoint_every = 0) {
  RuleInput input;
  input.parameters = parameters, input.micro_batch = micro_batch, input.sequence = sequence;
  input.states = 16 * parameters, input.checkpoint_every = checkpoint_every;
  return input;
}

double activations(const std::vector<Rule>& rules, std::size_t rule) {
  return rules[rule].bytes - rules[0].bytes;
}

TEST(PopularRules, OfTheFoundingExample) {
  const auto rules = popular_rules(gpt(2048, 24, 16), input_of(1'313'626'112, 4, 1024));
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_DOUBLE_EQ(rules[0].bytes, 16.0 * 1'313'626'112);
  EXPECT_DOUBLE_EQ(activations(rules, 1), 4.0 * 1024 * 2048 * 154);  // 1.29 GB
  EXPECT_NEAR(activations(rules, 1) / 1e9, 1.29, 0.01);
  EXPECT_NEAR(activations(rules, 2) / 1e9, 14.9, 0.05);
}

TEST(PopularRules, TheMisquotationHidesMoreTheLongerTheSequence) {
  const auto rules = popular_rules(gpt(2048, 24, 16), input_of(1.3e9, 16, 2048));
  EXPECT_NEAR(activations(rules, 1) / 1e9, 10.3, 0.05);
  EXPECT_NEAR(activations(rules, 2) / 1e9, 184, 1);
}

TEST(PopularRules, ScoresDoNotDependOnTheWidthOfAHead) {
  const auto narrow = popular_rules(gpt(2048, 1, 16), input_of(0, 1, 1024));
  const auto wide = popular_rules(gpt(4096, 1, 16), input_of(0, 1, 1024));
  const auto scores = [](const std::vector<Rule>& rules, double hidden) { return rules[2].bytes - 34 * 1024 * hidden; };
  EXPECT_DOUBLE_EQ(scores(narrow, 2048), scores(wide, 4096));
}

TEST(PopularRules, FullRecomputationKeepsTheInputsOfLayers) {
  const auto rules = popular_rules(gpt(1000, 10, 10), input_of(0, 2, 100, 1));
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_DOUBLE_EQ(rules[3].bytes, 2.0 * 200 * 1000 * 10);
}

TEST(PopularRules, NameWhatTheyCountAndTheSetupDoesNotHave) {
  model::Network network = gpt(2048, 24, 16);
  network.key_value_heads = 16, network.attention_dropout = network.residual_dropout = 0.1;
  RuleInput input = input_of(1e9, 4, 1024);
  for (const Rule& rule : popular_rules(network, input)) EXPECT_TRUE(rule.counts.empty()) << rule.name;

  input.keeps_scores = false;
  auto rules = popular_rules(network, input);
  EXPECT_TRUE(rules[0].counts.empty());
  EXPECT_EQ(rules[2].counts, std::vector<std::string>{"score matrices, which fused attention does not keep"});

  input.states = 2.25e9;
  for (const Rule& rule : popular_rules(network, input))
    EXPECT_EQ(rule.counts.at(0), "16 bytes a parameter, where the states here have 2.25") << rule.name;

  network.key_value_heads = 4, network.attention_dropout = network.residual_dropout = 0, input.checkpoint_every = 1;
  rules = popular_rules(network, input);
  ASSERT_EQ(rules.size(), 4U);
  EXPECT_EQ(rules[2].counts.size(), 5U);
  EXPECT_EQ(rules[3].counts.size(), 1U);
}

}  // namespace
}  // namespace ullage::planner
