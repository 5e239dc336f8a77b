// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>

namespace ullage {
namespace {

TEST(EditDistance, CountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("rehearse", "rehearse"), 0u);
  EXPECT_EQ(edit_distance("reherase", "rehearse"), 1u);
  EXPECT_EQ(edit_distance("gpsu", "gpus"), 1u);
}

TEST(EditDistance, IsSymmetricAndZeroOnlyForEqualTexts) {
  EXPECT_TRUE(rc::check([](const std::string& a, const std::string& b) {
    const auto distance = edit_distance(a, b);
    RC_ASSERT(distance == edit_distance(b, a));
    RC_ASSERT((distance == 0) == (a == b));
    RC_ASSERT(distance <= std::max(a.size(), b.size()));
  }));
}

constexpr std::array<std::string_view, 4> names{"rehearse", "record", "gpus", "a100-40gb"};

TEST(NearestNames, PrefersNamesThatBeginWithTheTypedText) {
  EXPECT_EQ(nearest_names("rec", names).front(), "record");
  EXPECT_EQ(nearest_names("A100", names).front(), "a100-40gb");
  EXPECT_EQ(nearest_names("gpu", names).front(), "gpus");
  EXPECT_TRUE(nearest_names("zzzzzzzz", names).empty());
  EXPECT_TRUE(nearest_names("", names).empty());
}

TEST(Suggestion, IsASentence) {
  EXPECT_EQ(suggestion("rehears", names), "did you mean 'rehearse'?");
  EXPECT_EQ(suggestion("quux-quux", names), "");
}

TEST(Text, SplitsAndJoins) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(join(split("a,b", ','), ", "), "a, b");
  EXPECT_EQ(trim("  x y\n"), "x y");
  EXPECT_EQ(trim(" \t"), "");
}

TEST(Text, QuotesForAShell) {
  EXPECT_EQ(shell_quoted("a/b-1.py"), "a/b-1.py");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's $x"), "'it'\\''s $x'");
  EXPECT_EQ(shell_quoted("a'\n\\\x1b"), "$'a\\'\\n\\\\\\033'");
}

TEST(Text, CountsThings) {
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(0, "run"), "0 runs");
}

TEST(Text, PrintsWhatATerminalShows) {
  EXPECT_EQ(printable(" ~\x7f\x1b[0m\n\té\xff", true), " ~??[0m\n\té?");
  EXPECT_EQ(printable("a\nb", false), "a?b");
  EXPECT_EQ(printable("a\u202eb\u2066\u200f\u061c\u2028", true), "a?b????");
  EXPECT_EQ(printable("שלום \u2014 \u200d", false), "שלום \u2014 \u200d");
}

TEST(Text, EscapesInJsonWhatATerminalMustNotGet) {
  EXPECT_EQ(escaped_controls("{\"a\u202e\": \"\u009b\\n\u00e9\"}\n"), "{\"a\\u202e\": \"\\u009b\\n\u00e9\"}\n");
}

TEST(Text, ShortensTheMiddleOfALongText) {
  EXPECT_EQ(shortened("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(shortened("aaaabbbbccccdddde", 16), "aaaabbbb [5 bytes left out] ddde");
  EXPECT_EQ(shortened("a\u00e9\u00e9\u00e9\u00e9\u00e9", 8), "a\u00e9 [6 bytes left out] \u00e9");
}

TEST(Table, KeepsEmptyRows) {
  Table table({{""}, {""}});
  table.add({"", ""});
  table.add({"a", ""});
  table.add({});
  EXPECT_EQ(table.text(), "\na\n\n");
}

TEST(Table, AlignsColumnsByCharacters) {
  Table table({{"name", Align::left}, {"size", Align::right}});
  table.add({"é", "1"});
  table.add({"long"});
  EXPECT_EQ(table.text(), "name  size\né        1\nlong\n");
}

}  // namespace
}  // namespace ullage
