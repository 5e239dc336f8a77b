// SPDX-License-Identifier: Apache-2.0
#include "ingest/lengths/lengths.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <span>
#include <string>
#include <vector>

namespace ullage::ingest {
namespace {

Result<Lengths> read(const std::string& text) {
  Source source = Source::of(std::as_bytes(std::span(text)), "lengths.txt");
  return read_lengths(source);
}

using Tokens = std::vector<std::uint32_t>;

TEST(Lengths, ANumberALine) {
  const auto lengths = read("3\n 17 \r\n\n0\n1000000000").value();
  EXPECT_EQ(lengths.tokens, (Tokens{3, 17, 0, 1000000000}));
  EXPECT_EQ(lengths.empty, 1u);
  EXPECT_TRUE(lengths.field.empty());
}

TEST(Lengths, AByteOrderMarkAndEmptyLinesAreSkipped) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "3\n\n\n\n4")
                .value()
                .tokens,
            (Tokens{3, 4}));
  EXPECT_EQ(read("3\n\n\n\nx\n").error().where, "lengths.txt, line 5");
}

TEST(Lengths, JsonLines) {
  EXPECT_EQ(read("{\"length\": 5}\n{\"text\": \"a {length\", \"length\": 7}\n").value().tokens, (Tokens{5, 7}));
  EXPECT_EQ(read("{\"num_tokens\": 5, \"length\": 6}").value().tokens, Tokens{6}) << "the first field of the list";
  EXPECT_EQ(read("{\"n_tokens\": 8}").value().field, "n_tokens");
  EXPECT_EQ(read("{\"token_count\": 9}").value().tokens, Tokens{9});
  EXPECT_EQ(read("{\"input_ids\": [1, 2, 3], \"labels\": [1]}").value().tokens, Tokens{3});
  EXPECT_EQ(read("{\"tokens\": [\"a\", \"b\"]}").value().tokens, Tokens{2});
  EXPECT_EQ(read("[4, 5, 6, 7]\n[]").value().tokens, (Tokens{4, 0}));
  EXPECT_EQ(read("{\"meta\": {\"length\": 99, \"input_ids\": [[1]]}, \"input_ids\": [1]}").value().tokens, Tokens{1});
}

struct Wrong {
  std::string text;
  int line;
  std::string what;
};

class WrongLines : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLines, AreErrorsWithTheirNumber) {
  const auto lengths = read(GetParam().text);
  ASSERT_FALSE(lengths);
  EXPECT_EQ(lengths.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(lengths.error().where, "lengths.txt, line " + std::to_string(GetParam().line));
  EXPECT_NE(lengths.error().what.find(GetParam().what), std::string::npos) << lengths.error().what;
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, WrongLines,
    testing::Values(Wrong{"3\n-4\n", 2, "'-4'"}, Wrong{"1\n\n2.5\n", 3, "'2.5'"}, Wrong{"length\n3", 1, "'length'"},
                    Wrong{"1 2", 1, "'1 2'"}, Wrong{"1\n1000000001", 2, "no sequence is that long"},
                    Wrong{"99999999999999999999999", 1, "no sequence is that long"},
                    Wrong{std::string("1\n\x01\x02\xff\n", 6), 2, "a length: '?"},
                    Wrong{"{\"length\": -1}", 1, "'length'"}, Wrong{"{\"length\": \"12\"}", 1, "'length'"},
                    Wrong{"{\"length\": 1.5}", 1, "'length'"}, Wrong{"{\"length\": [1]}", 1, "'length'"},
                    Wrong{"{\"length\": 1, \"length\": 2}", 1, "twice"}, Wrong{"{\"input_ids\": 5}", 1, "not a list"},
                    Wrong{"{\"input_ids\": [[1], [2]]}", 1, "lists"}, Wrong{"{\"input_ids\": [{}]}", 1, "objects"},
                    Wrong{"[[1, 2]]", 1, "lists"}, Wrong{"1\n{\"text\": \"a\"}", 2, "does not say"},
                    Wrong{"{\"length\": 1", 1, "not JSON"}, Wrong{"{\"length\": 1} x", 1, "not JSON"}));

TEST(Lengths, AFileWithoutAnyIsAnError) {
  for (const char* text : {"", "\n\n", "  \n"}) EXPECT_EQ(read(text).error().where, "lengths.txt");
}

TEST(Lengths, DeepNestingCostsNoStack) {
  EXPECT_FALSE(read("{\"a\": " + std::string(1000000, '[')));
  EXPECT_FALSE(read(std::string(1000000, '[')));
}

TEST(Lengths, LinesAcrossChunksStayWhole) {
  std::string text;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < 500000; ++i) {
    text += std::to_string(i) + "\n";
    sum += i;
  }
  const auto lengths = read(text).value();
  std::uint64_t read_sum = 0;
  for (const auto length : lengths.tokens) read_sum += length;
  EXPECT_EQ(lengths.tokens.size(), 500000u);
  EXPECT_EQ(read_sum, sum);
}

TEST(LengthsProperty, NumbersAndObjectsSayTheSame) {
  rc::check([](const std::vector<std::uint16_t>& numbers) {
    RC_PRE(!numbers.empty());
    std::string bare, json;
    for (const auto number : numbers) {
      bare += std::to_string(number) + "\n";
      json += "{\"id\": 1, \"length\": " + std::to_string(number) + "}\n";
    }
    RC_ASSERT(read(bare).value().tokens == read(json).value().tokens);
  });
}

TEST(LengthsProperty, NoBytesCrash) {
  rc::check([](const std::string& text) {
    const auto lengths = read(text);
    if (!lengths) RC_ASSERT(!lengths.error().what.empty());
  });
}

}  // namespace
}  // namespace ullage::ingest
