// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_file/run_file.hpp"

#include <gtest/gtest.h>

namespace ullage::ingest {
namespace {

using Texts = std::vector<std::string>;

std::string refused(std::string_view text) {
  const auto read = read_run_file(text, "run.yaml");
  return read ? "read" : describe(read.error());
}

TEST(RunFile, ReadsYamlInItsOrder) {
  const auto read = read_run_file("model: gpt2\nseq: [128, 256]\ngpu:\n  - t4\nnone:\nnested: {a: 1}\n", "run.yaml");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 5u);
  EXPECT_EQ((*read)[0].key, "model");
  EXPECT_EQ((*read)[0].values, (Texts{"gpt2"}));
  EXPECT_EQ((*read)[1].values, (Texts{"128", "256"}));
  EXPECT_EQ((*read)[2].values, (Texts{"t4"}));
  EXPECT_EQ((*read)[2].line, 3u);
  EXPECT_TRUE((*read)[3].values.empty());
  EXPECT_FALSE((*read)[3].nested);
  EXPECT_TRUE((*read)[4].nested);
}

TEST(RunFile, ReadsJson) {
  const auto read = read_run_file(R"({"bf16": true, "learning_rate": 5e-05, "text": "a\u00e9"})", "args.json");
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].values, (Texts{"true"}));
  EXPECT_EQ((*read)[1].values, (Texts{"5e-05"}));
  EXPECT_EQ((*read)[2].values, (Texts{"aé"}));
}

TEST(RunFile, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused("a: 1\nb: [2\n"), "not YAML: end of sequence flow not found (run.yaml, line 3)");
  EXPECT_EQ(refused("- a\n- b\n"), "not a map of settings (run.yaml)");
  EXPECT_EQ(refused(""), "not a map of settings (run.yaml)");
  EXPECT_EQ(refused("a: 1\na: 2\n"), "the setting is there twice (run.yaml, line 2)");
  EXPECT_EQ(refused("{a: 1}{b: 2}"), "more than one document (run.yaml)");
  EXPECT_EQ(refused("a: 1\n---\nb: 2\n"), "more than one document (run.yaml)");
  EXPECT_EQ(refused("\"\",\xf4ol"), "more than one document (run.yaml)");
  EXPECT_EQ(refused("{[1]: 2}"), "a name that is no text (run.yaml, line 1)");
  EXPECT_EQ(refused(std::string(most_run_file_bytes + 1, ' ')), "too large for a file of settings (run.yaml)");
}

TEST(RunFile, DeepNestingIsNoReasonToCrash) {
  EXPECT_NE(refused(std::string(500'000, '[')), "read");
  EXPECT_NE(refused(std::string(500'000, '{')), "read");
  std::string deep;
  for (int i = 0; i < 900; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  (void)refused(deep);
}

TEST(RunFile, AliasesAreNotUnfolded) {
  std::string bomb = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  const auto read = read_run_file(bomb, "run.yaml");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->back().nested);
}

}  // namespace
}  // namespace ullage::ingest
