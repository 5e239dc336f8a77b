// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/command.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::cli {
namespace {

TEST(Commands, AreWellFormed) {
  std::set<std::string_view> names;
  for (const Command* command : commands()) {
    EXPECT_TRUE(names.insert(command->name).second) << command->name;
    EXPECT_FALSE(command->summary.empty());
    EXPECT_FALSE(command->summary.ends_with('.'));
    EXPECT_NE(command->run, nullptr);
    std::set<std::string_view> flags;
    for (const Flag& flag : command->shape.flags) {
      EXPECT_TRUE(flags.insert(flag.name).second) << flag.name;
      EXPECT_EQ(flag.kind == FlagKind::toggle, flag.value_name.empty()) << flag.name;
      EXPECT_FALSE(flag.help.empty()) << flag.name;
    }
  }
}

TEST(Commands, FallbacksOfFlagsAreValid) {
  for (const Command* command : commands()) {
    for (const Flag& flag : command->shape.flags) {
      if (flag.fallback.empty()) continue;
      const std::string word = "--" + std::string(flag.name) + "=" + std::string(flag.fallback);
      const std::string_view words[] = {word};
      EXPECT_TRUE(parse_arguments(command->shape, words)) << command->name << " " << word;
    }
  }
}

TEST(Commands, HelpShowsEveryCommand) {
  const std::string text = help_text();
  for (const Command* command : commands()) EXPECT_NE(text.find(command->name), std::string::npos);
}

TEST(Commands, AnUnknownVerbGetsASuggestion) {
  EXPECT_EQ(find_command("gpsu").error().hint, "did you mean 'gpus'?");
  EXPECT_EQ(find_command("xyzzy-frobnicate").error().kind, ErrorKind::usage);
}

TEST(ExitCodes, AreTheContract) {
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::usage)), 2);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::bad_input)), 3);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::io)), 4);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::script_failed)), 5);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::timeout)), 6);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::unsupported)), 7);
  EXPECT_EQ(static_cast<int>(exit_code_of(ErrorKind::internal)), 70);
}

}  // namespace
}  // namespace ullage::cli
