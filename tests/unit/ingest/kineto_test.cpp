// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/kineto.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

namespace ullage::ingest {
namespace {

Result<KinetoTrace> read(const std::string& text) {
  return read_kineto(std::as_bytes(std::span(text)), "trace.json");
}

std::string op(const std::string& name, const std::string& ts, const std::string& dur, const std::string& args = "") {
  return R"({"ph":"X","cat":"cpu_op","name":")" + name + R"(","pid":1,"tid":"9","ts":)" + ts + R"(,"dur":)" + dur +
         R"(,"args":{)" + args + "}}";
}

const std::string memory =
    R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":9,"ts":12.5,)"
    R"("args":{"Total Reserved":2097152,"Total Allocated":512,"Bytes":512,"Device Id":0,"Device Type":1,"Addr":139637976793088}})";

std::string document(const std::string& events) {
  return R"({"schemaVersion":1,"profile_memory":1,"deviceProperties":[{"id":0,"name":"A100","totalGlobalMem":42}],)"
         R"("baseTimeNanoseconds":1000000,"traceEvents":[)" +
         events + "]}";
}

TEST(Kineto, ReadsOperatorsAndMemory) {
  const auto trace = read(document(
      op("aten::mm", "10.001", "5.25", R"("External id":3,"Sequence number":7,"Input Dims":[[4,512],[],[[1]]])") + "," +
      memory));
  ASSERT_TRUE(trace) << trace.error().what;
  const auto& t = trace->trace;
  ASSERT_EQ(t.calls.count(), 1u);
  EXPECT_EQ(t.calls.begin_ns[0], 10001);
  EXPECT_EQ(t.calls.end_ns[0], 15251);
  EXPECT_EQ(t.calls.sequence[0], 7);
  EXPECT_EQ(t.strings.text(t.calls.shapes[0]), "[[4,512],[],[[1]]]");
  ASSERT_EQ(t.memory.count(), 1u);
  EXPECT_EQ(t.memory.address[0], 139637976793088u);
  EXPECT_EQ(t.memory.device[0], 0);
  EXPECT_EQ(t.memory.call[0], 0u);  // the thread is a number here and a text there
  EXPECT_EQ(t.base_ns, 1000000);
  EXPECT_EQ(t.device_name, "A100");
  EXPECT_TRUE(trace->has_addresses && trace->has_totals && trace->says_profile_memory);
  EXPECT_FALSE(trace->partial());
}

TEST(Kineto, ABareListOfEventsIsATraceToo) {
  const auto trace = read("[" + op("aten::mm", "1", "1") + "]");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->trace.calls.count(), 1u);
}

TEST(Kineto, TimesKeepTheirNanosecondsWhereADoubleWouldNot) {
  const auto trace = read(document(op("a", "1790857026123456.789", "0.001")));
  EXPECT_EQ(trace->trace.calls.begin_ns[0], 1790857026123456789);
  EXPECT_EQ(trace->trace.calls.end_ns[0], 1790857026123456790);
}

TEST(Kineto, WhatBreaksOffIsKeptWithItsPlace) {
  const std::string whole = document(op("a", "1", "1") + "," + op("b", "2", "1"));
  const auto trace = read(whole.substr(0, whole.find("\"b\"") + 2));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->trace.calls.count(), 1u);
  ASSERT_TRUE(trace->partial());
  EXPECT_NE(trace->damage->where.find("byte"), std::string::npos);
}

TEST(Kineto, CharactersThatJsonForbidsAreReplaced) {
  const auto trace =
      read(document(op("a\x01z", "1", "1") + "," + op("C:\\qx", "2", "1") + "," + op("say \"hi\" now", "3", "1")));
  ASSERT_TRUE(trace) << trace.error().what;
  EXPECT_FALSE(trace->partial());
  EXPECT_EQ(trace->repaired, 4u);
  const auto& t = trace->trace;
  EXPECT_EQ(t.strings.text(t.calls.name[0]), "a z");
  EXPECT_EQ(t.strings.text(t.calls.name[1]), "C:/qx");
  EXPECT_EQ(t.strings.text(t.calls.name[2]), "say 'hi' now");
}

TEST(Kineto, DeepNestingIsRefusedNotFollowed) {
  EXPECT_FALSE(read(std::string(1 << 20, '[')));
  const auto trace = read(document(op("a", "1", "1")).insert(1, "\"x\":" + std::string(100000, '[') + ","));
  EXPECT_FALSE(trace);
}

TEST(Kineto, OtherJsonIsNoTrace) {
  const auto other = read(R"({"a":1})");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::bad_input);
  EXPECT_FALSE(read(""));
}

TEST(Kineto, CompressedTextsAreRead) {
  const std::string text = document(op("a", "1", "1"));
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  const auto whole = read(packed);
  ASSERT_TRUE(whole) << whole.error().what;
  EXPECT_EQ(whole->trace.calls.count(), 1u);
  const auto cut = read(packed.substr(0, packed.size() / 2));
  EXPECT_TRUE(!cut || cut->partial());
}

}  // namespace
}  // namespace ullage::ingest
