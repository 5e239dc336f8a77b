// SPDX-License-Identifier: Apache-2.0
#include "store/json_lines.hpp"

#include "store/blob.hpp"
#include "tests/unit/store/sample.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::store {
namespace {

TEST(json_lines, a_run_comes_back) {
  const Record before = sample();
  const std::string line = line_of(before.source);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const Record after = record_of(source_of(line).value()).value();
  EXPECT_EQ(after.summary.id, before.summary.id);
  EXPECT_EQ(after.summary.configuration, before.summary.configuration);
  EXPECT_EQ(after.source.changed_ms, before.source.changed_ms);
  EXPECT_EQ(after.metrics.size(), before.metrics.size());
  EXPECT_EQ(line_of(after.source), line);
}

/// The error of the sample's line with one text in it replaced.
std::string error_of(const std::string& from, const std::string& to) {
  std::string line = line_of(sample().source);
  line.replace(line.find(from), from.size(), to);
  const auto source = source_of(line);
  return source ? "" : source.error().what;
}

TEST(json_lines, another_version_and_values_off_the_schema_are_refused) {
  EXPECT_EQ(error_of(R"("schema_version":1)", R"("schema_version":2)"), "schema_version is 2");
  EXPECT_EQ(error_of(R"("reserved_bytes":3000)", R"("reserved_bytes":-3)"), "result.peak.reserved_bytes is -3");
  EXPECT_EQ(error_of(R"("bytes":500)", R"("bytes":501)"), "result.ledger is less than its children");
  EXPECT_EQ(error_of(R"("steps":2)", R"("steps":2,"host":{"pinned_bytes":"7"})"), "result.host.pinned_bytes is a text");
  EXPECT_EQ(
      error_of(R"("steps":2)", R"("steps":2,"plan":{"ledger":{"id":"a","name":"a","bytes":18446744073709551615}})"),
      "result.plan.ledger.bytes is a number out of range");
  EXPECT_EQ(error_of(R"("steps":2)", R"("steps":2,"plan":{"ledger":{"id":"a","name":"a","bytes":5,)"
                                     R"("children":[{"id":"b","name":"b","bytes":-1}]}})"),
            "result.plan.ledger.b.bytes is -1");
  EXPECT_EQ(error_of(R"("steps":2)", R"("steps":2,"plan":{"changes":[{"saved_bytes":-1,"needed_bytes":-1}]})"),
            "result.plan.changes[0].needed_bytes is -1");
  EXPECT_EQ(error_of(R"("steps":2)", R"("steps":null)"), "result.steps is null");
  EXPECT_EQ(error_of(R"("notes":[])", R"("notes":[1])"), "result.notes is a list");
  EXPECT_EQ(error_of(R"("changed":)", R"("unknown":)"), "changed is missing");
}

TEST(json_lines, what_is_no_run_is_refused) {
  for (const char* line : {"", "{}", "[]", R"({"id":"a"})", R"({"id":"a","result":[]})", R"({"id":"","result":{}})"})
    EXPECT_FALSE(source_of(line)) << line;
}

TEST(blob, any_text_comes_back) {
  rc::check([](const std::string& text) { RC_ASSERT(unpacked(packed(text)).value() == text); });
}

TEST(blob, damage_is_an_error) {
  const std::string frame = packed(std::string(1000, 'a'));
  EXPECT_FALSE(unpacked(""));
  EXPECT_FALSE(unpacked("no frame"));
  EXPECT_FALSE(unpacked(frame.substr(0, frame.size() - 3)));
}

}  // namespace
}  // namespace ullage::store
