// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/device_log.hpp"

#include <gtest/gtest.h>

#include "log_writer.hpp"
#include "test_data.hpp"

namespace ullage::ingest {
namespace {

using ulog::MemoryKind;
using ulog::RecordType;

ulog::Memory memory(std::uint64_t bytes, MemoryKind kind) {
  return {4096, bytes, static_cast<std::uint32_t>(kind), 0};
}

ulog::Copy copy(std::uint64_t bytes, std::uint32_t line, std::uint32_t pinned) {
  return {1, 2, bytes, static_cast<std::uint32_t>(ulog::Direction::device_to_host), pinned, 0, line, 0, 0};
}

TEST(DeviceLog, AddsUpBetweenMarks) {
  test::LogWriter w;
  w.name(1, "train.py:7 step").add(RecordType::allocate, memory(100, MemoryKind::device));
  w.add(RecordType::copy, copy(4, 1, 0)).add(RecordType::copy, copy(8, 1, 0)).add(RecordType::copy, copy(8, 1, 1));
  w.add(RecordType::launch, ulog::Launch{}).add(RecordType::gemm, ulog::Gemm{2, 3, 4, 5, 0, 0, 0, 0, 0, 0});
  w.add(RecordType::mark, ulog::Mark{7, 0});
  w.add(RecordType::release, memory(100, MemoryKind::device)).add(RecordType::sync, ulog::Sync{0, 0, 1, 0, 30});
  w.add(RecordType::unknown_read, copy(4, 1, 0)).add(RecordType::out_of_memory, memory(9, MemoryKind::device));
  const auto log = read_device_log(test::bytes_of(w.text));
  ASSERT_TRUE(log);
  EXPECT_FALSE(log->partial());
  EXPECT_EQ(log->pid, 42u);
  ASSERT_EQ(log->intervals.size(), 2u);
  const LogInterval& first = log->intervals[0];
  EXPECT_EQ(first.end_mark, 7u);
  EXPECT_EQ(first.device_bytes, 100u);
  ASSERT_EQ(first.copies.size(), 2u);
  EXPECT_EQ(first.copies[0].count, 2u);
  EXPECT_EQ(first.copies[0].bytes, 12u);
  EXPECT_EQ(log->name(first.copies[0].line), "train.py:7 step");
  EXPECT_EQ(first.gemm_flops, 2u * 2 * 3 * 4 * 5);
  EXPECT_EQ(log->intervals[1].syncs.at(0).waited_ns, 30u);
  EXPECT_EQ(log->intervals[1].unknown_reads.at(0).bytes, 4u);
  EXPECT_EQ(log->device_bytes, 0u);
  EXPECT_EQ(log->device_peak_bytes, 100u);
  EXPECT_EQ(log->ooms, 1u);
}

TEST(DeviceLog, TheWritersTotalsAndStubCountsAreCumulative) {
  test::LogWriter w;
  for (const std::uint64_t calls : {3u, 5u}) w.add(RecordType::stub_calls, ulog::StubCalls{1, 2, calls});
  w.add(RecordType::host_memory, memory(64, MemoryKind::pinned))
      .add(RecordType::host_memory, memory(64, MemoryKind::pinned), 1);
  w.add(RecordType::totals, ulog::Totals{1, 900, 0, 0, 0, 300, 11, 2});
  const auto log = read_device_log(test::bytes_of(w.text));
  ASSERT_EQ(log->stubs.size(), 1u);
  EXPECT_EQ(log->stubs[0].calls, 5u);
  EXPECT_EQ(log->pinned_bytes, 0u);
  EXPECT_EQ(log->pinned_peak_bytes, 64u);
  EXPECT_EQ(log->context_bytes, 300u);
  EXPECT_EQ(log->device_peak_bytes, 900u);
  EXPECT_TRUE(log->partial());  // two records were dropped
}

TEST(DeviceLog, ACutTailIsSaidAndKept) {
  test::LogWriter w;
  w.add(RecordType::mark, ulog::Mark{1, 0}).add(RecordType::mark, ulog::Mark{2, 0});
  for (std::size_t length = 16; length < w.text.size(); ++length) {
    const auto log = read_device_log(test::bytes_of(std::string_view(w.text).substr(0, length)));
    ASSERT_TRUE(log);
    EXPECT_EQ(log->partial(), (length - 16) % 24 != 0);
    EXPECT_EQ(log->intervals.size(), 1 + (length - 16) / 24);
  }
}

TEST(DeviceLog, UnknownAndShortRecordsAreSkipped) {
  test::LogWriter w;
  w.raw(static_cast<RecordType>(999), "12345678", 0).raw(RecordType::gemm, "12345678", 0);
  w.raw(RecordType::name, std::string("\x01\0\0\0\x03\0\xff\xff", 8), 0).add(RecordType::mark, ulog::Mark{1, 0});
  const auto log = read_device_log(test::bytes_of(w.text));
  ASSERT_TRUE(log);
  EXPECT_EQ(log->bad_records, 2u);
  EXPECT_EQ(log->intervals.size(), 2u);
}

TEST(DeviceLog, OtherFilesAreErrors) {
  EXPECT_FALSE(read_device_log({}));
  EXPECT_FALSE(read_device_log(test::bytes_of("hello, hello, hello")));
  test::LogWriter w;
  w.text[8] = 9;
  const auto log = read_device_log(test::bytes_of(w.text));
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().what.find("version 9"), std::string::npos);
}

TEST(DeviceLog, HugeShapesDoNotWrapAround) {
  test::LogWriter w;
  w.add(RecordType::gemm, ulog::Gemm{1ull << 40, 1ull << 40, 1, 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(read_device_log(test::bytes_of(w.text))->gemm_flops, ~0ull);
}

}  // namespace
}  // namespace ullage::ingest
