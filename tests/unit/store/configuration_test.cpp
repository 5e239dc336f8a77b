// SPDX-License-Identifier: Apache-2.0
#include "store/configuration.hpp"

#include <gtest/gtest.h>

namespace ullage::store {
namespace {

using Words = std::vector<std::string>;

std::string texts(const Words& arguments) {
  std::string text;
  for (const Setting& one : settings_of_arguments(arguments))
    text += one.key + "=" + one.text + ":" + name_of(one.type) + " ";
  return text;
}

TEST(configuration, arguments_are_taken_apart) {
  EXPECT_EQ(texts({"--batch", "4", "--lr=1e-3", "--bf16", "--name", "run"}),
            "--batch=4:integer --lr=1e-3:real --bf16=true:switch --name=run:text ");
  EXPECT_EQ(texts({"-b", "8", "model.layers=12", "data"}),
            "-b=8:integer model.layers=12:integer argument 1=data:text ");
}

TEST(configuration, a_negative_number_is_a_value_and_a_flag_is_none) {
  EXPECT_EQ(texts({"--shift", "-0.5", "--a", "--b"}), "--shift=-0.5:real --a=true:switch --b=true:switch ");
}

TEST(configuration, values_of_a_repeated_flag_are_joined) {
  EXPECT_EQ(texts({"--data", "a", "--data", "b"}), "--data=a,b:text ");
}

TEST(configuration, a_text_with_an_equals_sign_is_no_assignment) {
  EXPECT_EQ(texts({"a prompt = this", "=x"}), "argument 1=a prompt = this:text argument 2==x:text ");
}

TEST(configuration, the_script_is_found_behind_launchers) {
  const auto parts = [](const Words& command) { return command_parts(command); };
  EXPECT_EQ(parts({"python", "train.py", "--a"}).script, "train.py");
  EXPECT_EQ(parts({"python", "train.py", "--a"}).launcher, "");
  EXPECT_EQ(parts({"/usr/bin/torchrun", "--nproc-per-node", "1", "train.py"}).launcher, "torchrun --nproc-per-node 1");
  EXPECT_EQ(parts({"python3.11", "-m", "pkg.train", "x"}).script, "pkg.train");
  EXPECT_EQ(parts({"python3.11", "-m", "pkg.train", "x"}).arguments, Words{"x"});
  EXPECT_EQ(parts({"/opt/bin/train", "x"}).script, "/opt/bin/train");
  EXPECT_EQ(parts({}).script, "");
}

TEST(configuration, words_of_ullage_itself_are_no_choice_of_the_script) {
  const auto parts = [](const Words& command) { return command_parts(command); };
  const auto recorded =
      parts({"/opt/bin/ullage", "record", "--out", "D", "--name", "N", "--", "python", "train.py", "--a"});
  EXPECT_EQ(recorded.launcher, "");
  EXPECT_EQ(recorded.script, "train.py");
  EXPECT_EQ(recorded.arguments, Words{"--a"});
  EXPECT_EQ(parts({"nice", "ullage", "record", "--", "torchrun", "train.py"}).launcher, "nice torchrun");
  EXPECT_EQ(parts({"ullage", "record", "--", "ullage", "record", "--", "train"}).script, "train");
  EXPECT_EQ(parts({"train.py", "ullage", "record", "--", "x"}).arguments, (Words{"ullage", "record", "--", "x"}));
  EXPECT_EQ(parts({"ullage", "record"}).script, "ullage");
}

TEST(configuration, another_program_text_is_another_configuration) {
  const auto one = command_parts(Words{"python", "-c", "print(1)"}),
             two = command_parts(Words{"python", "-c", "print(2)"});
  EXPECT_EQ(one.script, "-c");
  EXPECT_NE(one.arguments, two.arguments);
}

TEST(configuration, differences_name_what_changed_came_and_went) {
  const auto before = settings_of_arguments(Words{"--batch", "4", "--old", "--same", "x"});
  const auto after = settings_of_arguments(Words{"--same", "x", "--batch", "8", "--new"});
  const auto found = differences(before, after);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].key, "--batch");
  EXPECT_EQ(found[0].before, "4");
  EXPECT_EQ(found[0].after, "8");
  EXPECT_EQ(found[1].key, "--new");
  EXPECT_FALSE(found[1].before);
  EXPECT_FALSE(found[2].after);
}

TEST(configuration, the_hash_is_of_choices_alone) {
  auto settings = settings_of_arguments(Words{"--batch", "4"});
  const std::string hash = configuration_hash("/here/train.py", settings);
  settings.push_back(setting(SettingGroup::stack, "torch", "2.12"));
  settings.push_back(setting(SettingGroup::inputs, "input shapes", "[[1]]"));
  EXPECT_EQ(configuration_hash("/there/train.py", settings), hash);
  settings.push_back(setting(SettingGroup::device, "gpu", "t4"));
  EXPECT_NE(configuration_hash("/there/train.py", settings), hash);
}

}  // namespace
}  // namespace ullage::store
