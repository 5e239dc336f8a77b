// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/store/sample.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::store {
namespace {

std::optional<std::int64_t> value(const Record& record, const char* name) {
  return value_of(record.metrics, find_metric(name).value());
}

TEST(metrics, names_are_unique) {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
}

TEST(metrics, of_a_run_that_broke_off_before_it_used_the_device) {
  const Record record =
      record_of({"x", "/x", 0, R"({"verdict":"failed","needed_at_least_bytes":0,"headroom":{"bytes":9,"fraction":1}})"})
          .value();
  EXPECT_EQ(value(record, "needed"), std::nullopt);
  EXPECT_EQ(value(record, "headroom"), std::nullopt);
}

TEST(metrics, of_a_result) {
  const Record record = sample();
  EXPECT_EQ(value(record, "peak_allocated"), 2000);
  EXPECT_EQ(value(record, "fragmentation"), 1000);
  EXPECT_EQ(value(record, "needed"), 3500);
  EXPECT_EQ(value(record, "step_growth"), 12);
  EXPECT_EQ(value(record, "peak_load"), 150);
  EXPECT_EQ(value(record, "peak_optimizer"), 560);
  EXPECT_EQ(value(record, "peak_forward"), std::nullopt);
  EXPECT_EQ(value(record, "parameters"), 1000);
  EXPECT_EQ(value(record, "communication"), 0);  // a ledger without the line
  EXPECT_EQ(value(record, "copied"), 42);
  EXPECT_EQ(value(record, "problems"), 1);
  EXPECT_EQ(value(record, "missing"), std::nullopt);
}

TEST(metrics, shrinking_memory_is_a_negative_growth) {
  const Record record = record_of({"x", "/x", 0,
                                   R"({"phases":[{"name":"optimizer","allocated_bytes":10},)"
                                   R"({"name":"optimizer","allocated_bytes":4}]})"})
                            .value();
  EXPECT_EQ(value(record, "step_growth"), -6);
}

TEST(metrics, times_and_rates_of_a_recording) {
  const auto of = [](const char* json) { return record_of({"x", "/x", 0, json}).value(); };
  const Record record = of(R"({"time":{"seconds":0.0123456},"throughput":{"tokens_per_second":1999.6}})");
  EXPECT_EQ(value(record, "step_time"), 12346);
  EXPECT_EQ(value(record, "tokens_per_second"), 2000);
  EXPECT_EQ(value_text(*find_metric("step_time"), 12346), "12.346 ms");
  EXPECT_FALSE(metrics()[*find_metric("tokens_per_second")].less_is_better);
  const Record odd = of(R"({"time":{"seconds":-1},"throughput":{"tokens_per_second":1e300}})");
  EXPECT_EQ(value(odd, "step_time"), std::nullopt);
  EXPECT_EQ(value(odd, "tokens_per_second"), std::nullopt);
}

TEST(metrics, shares_are_hundredths_of_a_percent) {
  const auto of = [](const char* json) { return record_of({"x", "/x", 0, json}).value(); };
  const Record record = of(R"({"throughput":{"tokens_per_second":1,"padding":0.25,"mfu":0.42705}})");
  EXPECT_EQ(value(record, "padding"), 2500);
  EXPECT_EQ(value(record, "mfu"), 4271);
  EXPECT_EQ(value_text(*find_metric("mfu"), 4271), "42.71 %");
  EXPECT_FALSE(metrics()[*find_metric("mfu")].less_is_better);
  EXPECT_EQ(value(of(R"({"throughput":{"mfu":"all"}})"), "mfu"), std::nullopt);
}

TEST(metrics, an_unknown_name_gets_the_nearest) {
  const auto found = find_metric("peak_reservd");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::usage);
  EXPECT_NE(found.error().hint.find("peak_reserved"), std::string::npos);
}

TEST(metrics, texts_have_units) {
  EXPECT_EQ(value_text(*find_metric("peak_allocated"), 3 << 20), "3.00 MiB");
  EXPECT_EQ(change_text(*find_metric("peak_allocated"), -(1 << 20)), "-1.00 MiB");
  EXPECT_EQ(change_text(*find_metric("steps"), 2), "+2");
}

}  // namespace
}  // namespace ullage::store
