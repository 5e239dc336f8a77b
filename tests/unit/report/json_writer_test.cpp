// SPDX-License-Identifier: Apache-2.0
#include "report/json/json_writer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidjson/document.h>

#include <limits>

namespace ullage {
namespace {

TEST(JsonWriter, WritesNestedFieldsAndLeavesOutWhatIsNotFinite) {
  JsonWriter json;
  json.begin_object();
  json.field("name", "a\"b");
  json.field("bytes", std::uint64_t{1} << 63);
  json.field("unknown", std::numeric_limits<double>::quiet_NaN());
  json.number_field("whole", 989e12);
  json.number_field("part", 0.5);
  json.begin_array("items");
  json.item("x");
  json.end_array();
  json.end_object();
  EXPECT_EQ(json.text(),
            "{\n  \"name\": \"a\\\"b\",\n  \"bytes\": 9223372036854775808,\n  \"whole\": 989000000000000,\n"
            "  \"part\": 0.5,\n  \"items\": [\n    \"x\"\n  ]\n}\n");
}

TEST(CleanUtf8, KeepsValidTextAndReplacesTheRest) {
  EXPECT_EQ(clean_utf8("é€😀"), "é€😀");
  EXPECT_EQ(clean_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(clean_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_utf8("\xED\xA0\x80").substr(0, 3), "\xEF\xBF\xBD");
  EXPECT_EQ(clean_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(JsonWriter, AnyBytesGiveADocumentThatParses) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    JsonWriter json;
    json.begin_object();
    json.field("text", text);
    json.end_object();
    rapidjson::Document document;
    document.Parse<rapidjson::kParseValidateEncodingFlag>(json.text().c_str());
    RC_ASSERT(!document.HasParseError());
    RC_ASSERT(std::string(document["text"].GetString(), document["text"].GetStringLength()) == clean_utf8(text));
  }));
}

}  // namespace
}  // namespace ullage
