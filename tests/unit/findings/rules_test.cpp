// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/bytes.hpp"
#include "findings/every_step.hpp"
#include "tests/unit/findings/world.hpp"

namespace ullage::findings {
namespace {

TEST(Rules, HaveTheirOwnIdsAndTexts) {
  std::set<std::string> ids;
  bool opportunities = false;
  for (const Rule* rule : rules()) {
    EXPECT_TRUE(ids.insert(rule->id).second) << rule->id;
    EXPECT_EQ(rule_of(rule->id), rule);
    for (const char* text : {rule->title, rule->explains, rule->example, rule->next})
      EXPECT_GT(std::string(text).size(), 8U);
    opportunities |= rule->level == FindingLevel::opportunity;
    EXPECT_EQ(opportunities, rule->level == FindingLevel::opportunity) << "problems come first: " << rule->id;
  }
  EXPECT_EQ(rule_of("nothing"), nullptr);
}

TEST(Rules, AreSilentWithoutEvidence) {
  World world;
  EXPECT_TRUE(findings_of(Subject(world.facts())).empty());
}

TEST(Rules, ProblemsComeFirstThenBytes) {
  std::vector<Finding> found(3);
  found[0].id = "small", found[0].bytes = 1;
  found[1].id = "large", found[1].bytes = 2;
  found[2].id = "wrong", found[2].level = FindingLevel::problem;
  rank(found);
  EXPECT_EQ(found[0].id + found[1].id + found[2].id, "wronglargesmall");
}

Facts with_transfers(const World& world, const ledger::StepTransfers& first, const ledger::StepTransfers& second) {
  Facts facts = world.facts();
  facts.transfers = {first, second};
  return facts;
}

TEST(EveryStep, TakesTheSmallerOfTheLastTwoSteps) {
  World world;
  ledger::StepTransfers one{1, {{"host_to_device", false, "a.py:1 f", 2, 200, 2, 0, 0}}, {}};
  ledger::StepTransfers two{2, {{"host_to_device", false, "a.py:1 f", 1, 300, 1, 1, 100}}, {}};
  one.syncs = {{"cudaStreamSynchronize", "a.py:1 f", 2}, {"cudaStreamSynchronize", "a.py:9 f", 1}};
  two.syncs = {{"cudaStreamSynchronize", "a.py:1 f", 1}};
  const Subject subject(with_transfers(world, one, two));
  const auto lines = in_every_step(subject);
  ASSERT_EQ(lines.size(), 1U);  // line 9 did not come back
  EXPECT_EQ(lines[0].pageable, 1U);
  EXPECT_EQ(lines[0].pageable_bytes, 200U);
  EXPECT_EQ(lines[0].repeated, 0U);
  EXPECT_EQ(lines[0].waits, 0U);  // those of the copies themselves
}

TEST(EveryStep, OneStepIsNotEveryStep) {
  World world;
  Facts facts = world.facts();
  facts.transfers = {{1, {}, {{"cudaStreamSynchronize", "a.py:1 f", 2}}}};
  EXPECT_TRUE(in_every_step(Subject(std::move(facts))).empty());
}

TEST(Synchronisation, LeavesOutTheScaler) {
  World world;
  ledger::StepTransfers step{1, {}, {{"cudaStreamSynchronize", "train.py:7 main", 1}}};
  step.syncs.push_back({"cudaStreamSynchronize", "train.py:9 main (GradScaler)", 1});
  const Subject subject(with_transfers(world, step, step));
  const auto found = rule_of("synchronisation")->find(*rule_of("synchronisation"), subject);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code.line, "train.py:7 main");
}

TEST(Padding, CountsTheSquareOfTheSequenceForAttention) {
  World world;
  world.add(1000 * mib, Category::activations, "layers.0.mlp", "aten::linear");
  world.add(64 * mib, Category::activations, "layers.0.attn", "aten::softmax");
  const attribution::PaddingMask mask{"attention_mask", 1, 2, 100, 100, 5000, "train.py:3 main"};  // two rows of 50
  Facts facts = world.facts();
  facts.masks = {&mask, 1};
  const Subject subject(std::move(facts));
  const auto found = rule_of("padding")->find(*rule_of("padding"), subject);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bytes, 500 * mib + 48 * mib);
  EXPECT_EQ(found[0].code.line, "train.py:3 main");
}

TEST(Attention, IsSilentBelowThreePercentOfThePeak) {
  World world;
  world.add(1000 * mib, Category::parameters, "body", "aten::empty");
  world.add(20 * mib, Category::activations, "layers.0.attn", "aten::softmax");
  EXPECT_TRUE(world.find("attention_scores").empty());
  world.add(20 * mib, Category::activations, "layers.0.attn", "aten::dropout");
  EXPECT_EQ(world.find("attention_scores").size(), 1U);
}

}  // namespace
}  // namespace ullage::findings
