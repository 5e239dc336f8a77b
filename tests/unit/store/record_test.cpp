// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/store/sample.hpp"

#include <gtest/gtest.h>

namespace ullage::store {
namespace {

TEST(record, of_a_result) {
  const Record record = sample();
  const Summary& summary = record.summary;
  EXPECT_EQ(summary.name, "train");
  EXPECT_EQ(summary.kind, "rehearsal");
  EXPECT_EQ(summary.script, "dir/train.py");
  EXPECT_EQ(summary.started_ms, 1796051747123);
  EXPECT_EQ(summary.gpu, "a100-40gb");
  EXPECT_EQ(summary.dirty, true);
  EXPECT_EQ(record.phases.size(), 3u);
  ASSERT_EQ(record.lines.size(), 5u);
  EXPECT_EQ(record.lines[3].id, "parameters");
  EXPECT_EQ(record.lines[3].depth, 2u);
  EXPECT_EQ(record.settings.front().key, "--batch");
}

TEST(record, exit_codes_follow_from_verdicts) {
  EXPECT_EQ(sample("a", sample_json("tight")).summary.exit_code, 0);
  EXPECT_EQ(sample("a", sample_json("oom")).summary.exit_code, 1);
  EXPECT_EQ(sample("a", sample_json("failed")).summary.exit_code, 5);
  EXPECT_EQ(sample("a", sample_json("timeout")).summary.exit_code, 6);
}

TEST(record, of_an_older_result_without_its_origin) {
  const Record record =
      record_of({"b", "/runs/b", 77, R"({"verdict":"fits","script":["python","deep/mlp.py"]})"}).value();
  EXPECT_EQ(record.summary.started_ms, 77);
  EXPECT_EQ(record.summary.name, "mlp");
  EXPECT_FALSE(record.summary.dirty);
  EXPECT_TRUE(record.metrics.empty());
}

TEST(record, of_a_recording) {
  const Record record =
      record_of(
          {"r", "/runs/r", 5, R"({"command":"record","recording":{"name":"nightly"},"script":["train.py","--a","1"]})"})
          .value();
  EXPECT_EQ(record.summary.kind, "recording");
  EXPECT_EQ(record.summary.name, "nightly");
  EXPECT_EQ(record.summary.script, "train.py");
  EXPECT_EQ(record.summary.verdict, "");
}

TEST(record, values_of_a_wrong_kind_are_missing) {
  const auto record = record_of({"c", "/runs/c", 0,
                                 R"({"verdict":3,"script":{"a":1},"phases":[7,{"name":[]}],"ledger":[],"run":5,)"
                                 R"("peak":{"allocated_bytes":-4,"reserved_bytes":1e300},"findings":{}})"});
  ASSERT_TRUE(record);
  EXPECT_EQ(record->summary.verdict, "");
}

TEST(record, damage_is_an_error) {
  for (const std::string text : {"", "[", "[]", "{\"a\":", "\"x\"", "nul"}) {
    const auto record = record_of({"d", "/runs/d", 0, text});
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().kind, ErrorKind::bad_input);
    EXPECT_NE(record.error().where.find("/runs/d/run.json"), std::string::npos);
  }
  EXPECT_FALSE(record_of({"e", "/runs/e", 0, "{\"ledger\":" + std::string(100'000, '[')}));
}

}  // namespace
}  // namespace ullage::store
