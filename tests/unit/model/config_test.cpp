// SPDX-License-Identifier: Apache-2.0
#include "model/config.hpp"

#include <gtest/gtest.h>

namespace ullage::model {
namespace {

Config parsed(std::string_view json) {
  return Config::parse(json, "config.json").value();
}

std::string mistake(std::string_view json, void (*read)(Config&)) {
  Config config = parsed(json);
  read(config);
  return config.error() ? config.error()->what : "";
}

TEST(Config, RefusesWhatIsNoObject) {
  for (const std::string_view json : {"", "[]", "{", "{\"a\": }", "{} {}", "3", "\"text\"", "{\"a\": \"\xff\"}"}) {
    const auto config = Config::parse(json, "config.json");
    ASSERT_FALSE(config) << json;
    EXPECT_EQ(config.error().kind, ErrorKind::bad_input);
    EXPECT_NE(config.error().where.find("config.json"), std::string::npos);
  }
  EXPECT_FALSE(Config::parse(std::string(5 << 20, ' ') + "{}", ""));
}

TEST(Config, NestingCostsNoStack) {
  const std::string deep = "{\"a\": " + std::string(1000000, '[') + std::string(1000000, ']') + "}";
  EXPECT_TRUE(Config::parse(deep, "config.json"));
}

TEST(Config, SizesAreStrict) {
  const auto read = [](Config& config) { config.size("n", 7); };
  EXPECT_EQ(mistake(R"({"n": 64})", read), "");
  for (const std::string_view value :
       {"64.0", "\"64\"", "true", "null", "0", "-4", "2147483648", "18446744073709551615", "1e99", "NaN", "[]", "{}"}) {
    const std::string json = R"({"n": )" + std::string(value) + "}";
    EXPECT_EQ(mistake(json, read).find("n: "), 0u) << value;
  }
}

TEST(Config, TheFirstMistakeIsKeptAndReadingGoesOn) {
  Config config = parsed(R"({"a": -1, "b": "x"})");
  EXPECT_EQ(config.size("a", 5), 5u);
  EXPECT_TRUE(config.flag("b", true));
  EXPECT_EQ(config.error()->what, "a: -1 is not a size");
  EXPECT_EQ(config.error()->expected, "a whole number from 1 to 2147483647");
}

TEST(Config, ListsWhatWasMissingAndWhatNobodyAskedFor) {
  Config config = parsed(R"({"used": 3, "other": 1, "more": null})");
  config.size("used", 1);
  config.size("missing", 12);
  config.size_or("derived", 4, "half of it");
  config.check_type("other", {FieldType::whole});
  EXPECT_EQ(config.assumed(), (std::vector<std::string>{"missing = 12", "derived = 4 (half of it)"}));
  EXPECT_EQ(config.ignored(), (std::vector<std::string>{"other", "more"}));
}

TEST(Config, TheLastOfEqualNamesAndTheAliasHold) {
  Config config = parsed(R"({"n": 1, "n": 2, "other_name": 3, "m": 4})");
  EXPECT_EQ(config.size("n", 9), 2u);
  config.alias("other_name", "m");
  EXPECT_EQ(config.size("m", 9), 3u);
  EXPECT_TRUE(config.ignored().empty());
}

TEST(Config, MistakesOfAnInnerObjectNameItsField) {
  Config config = parsed(R"({"rope": {"factor": "x"}})");
  auto inner = config.object("rope");
  ASSERT_TRUE(inner);
  inner->number("factor", 1);
  config.adopt(*inner, "rope");
  EXPECT_EQ(config.error()->what, "rope.factor: 'x' is not a number");
}

}  // namespace
}  // namespace ullage::model
