// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/flags.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::cli {
namespace {

constexpr Flag flags[] = {
    json_flag,
    {"gpu", "NAME", "the GPU", FlagKind::gpu},
    {"memory", "SIZE", "the capacity", FlagKind::size},
    {"headroom", "SHARE", "to keep free", FlagKind::share, "15%"},
    {"steps", "N", "steps", FlagKind::count},
    {"limit", "TIME", "time limit", FlagKind::duration},
    {"name", "TEXT", "a name"},
};

using Words = std::vector<std::string_view>;

Result<Arguments> parse(const Words& words, bool command = false) {
  return parse_arguments({flags, 1, command}, words);
}

TEST(Flags, TakesValuesInBothForms) {
  const auto arguments = parse({"--memory", "80GiB", "--steps=3", "--json", "file", "--limit", "10m"}).value();
  EXPECT_EQ(arguments.size("memory"), 80ull << 30);
  EXPECT_EQ(arguments.count("steps"), 3u);
  EXPECT_TRUE(arguments.given("json"));
  EXPECT_EQ(arguments.duration("limit"), std::chrono::minutes(10));
  EXPECT_EQ(arguments.positionals, std::vector<std::string>{"file"});
}

TEST(Flags, FallsBackAndSaysWhatWasGiven) {
  const auto arguments = parse({}).value();
  EXPECT_DOUBLE_EQ(arguments.share("headroom").value(), 0.15);
  EXPECT_FALSE(arguments.given("headroom"));
  EXPECT_EQ(arguments.size("memory"), std::nullopt);
}

TEST(Flags, TheLastOfEqualFlagsHolds) {
  EXPECT_EQ(parse({"--steps", "1", "--steps", "2"}).value().count("steps"), 2u);
}

TEST(Flags, AValueMayBeEmptyOrLookLikeAFlag) {
  EXPECT_EQ(parse({"--name="}).value().text("name"), "");
  EXPECT_EQ(parse({"--name", "--json"}).value().text("name"), "--json");
  EXPECT_EQ(parse({"-"}).value().positionals, std::vector<std::string>{"-"});
}

TEST(Flags, WhatFollowsTheDashesIsTheCommand) {
  const auto arguments = parse({"--json", "--", "python", "--help", "--", "x"}, true).value();
  EXPECT_EQ(arguments.command, (std::vector<std::string>{"python", "--help", "--", "x"}));
  EXPECT_FALSE(arguments.help);
  EXPECT_EQ(parse({"--", "--json"}).value().positionals, std::vector<std::string>{"--json"});
}

TEST(Flags, HelpIsSeenAnywhere) {
  EXPECT_TRUE(parse({"--nonsense", "-h"}).value().help);
}

TEST(Flags, ErrorsSayWhatAndWhere) {
  EXPECT_EQ(parse({"--memroy", "1GiB"}).error().hint, "did you mean '--memory'?");
  EXPECT_EQ(parse({"--memory", "80G"}).error().where, "--memory 80G");
  EXPECT_EQ(parse({"--memory", "40"}).error().what, "a size without a unit is a number of bytes");
  EXPECT_EQ(parse({"--memory", "40"}).error().expected, "40GiB (2^30 bytes each) or 40GB (10^9)");
  EXPECT_EQ(parse({"--memory", "0"}).value().size("memory"), 0u);
  EXPECT_TRUE(parse({"--memory", "42949672960"}));
  EXPECT_TRUE(parse({"--memory", "40 B"}));
  EXPECT_EQ(parse({"--memory"}).error().what, "a value is missing");
  EXPECT_EQ(parse({"--json=1"}).error().what, "this flag takes no value");
  EXPECT_EQ(parse({"-j"}).error().what, "unknown flag");
  EXPECT_EQ(parse({"a", "b"}).error().where, "'b'");
  EXPECT_NE(parse({"--gpu", "A100"}).error().hint.find("a100-80gb"), std::string::npos);
  EXPECT_EQ(parse({"--steps", "-1"}).error().kind, ErrorKind::usage);
}

TEST(Flags, HelpListsEveryFlag) {
  const std::string text = describe_flags(flags);
  for (const Flag& flag : flags) EXPECT_NE(text.find("--" + std::string(flag.name)), std::string::npos);
  EXPECT_NE(text.find("(default 15%)"), std::string::npos);
}

TEST(Flags, AnyWordsGiveAResultOrAUsageError) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& texts) {
    const auto arguments = parse(Words(texts.begin(), texts.end()), true);
    RC_ASSERT(arguments || arguments.error().kind == ErrorKind::usage);
  }));
}

}  // namespace
}  // namespace ullage::cli
