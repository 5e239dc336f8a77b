// SPDX-License-Identifier: Apache-2.0
// The published messages of tests/data/oom_messages.csv: every number against the table's own.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ingest/oom_message/diagnosis.hpp"
#include "ingest/oom_message/oom_log.hpp"
#include "test_data.hpp"

namespace ullage {
namespace {

using ingest::OomMessage;
using ingest::PrintedSize;
using Row = std::map<std::string, std::string>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      result.emplace_back();
    } else {
      result.back().push_back(c);
    }
  }
  return result;
}

std::vector<Row> rows() {
  std::ifstream file(std::string(ULLAGE_TEST_DATA) + "/oom_messages.csv");
  std::string line;
  std::getline(file, line);
  const auto header = cells(line);
  std::vector<Row> result;
  while (std::getline(file, line)) {
    const auto values = cells(line);
    Row row;
    for (std::size_t i = 0; i < header.size() && i < values.size(); ++i) row[header[i]] = values[i];
    result.push_back(row);
  }
  return result;
}

ingest::OomLog read(const std::string& text) {
  auto source = ingest::Source::of(test::bytes_of(text), "log");
  return ingest::read_oom_log(source);
}

// The table has four decimals of a GiB.
void expect_gib(const Row& row, const char* column, const std::optional<PrintedSize>& size) {
  const std::string& text = row.at(column);
  EXPECT_EQ(size.has_value(), !text.empty()) << column;
  if (!size || text.empty()) return;
  const double wanted = std::stod(text) * (1 << 30), slack = 0.00006 * (1 << 30);
  EXPECT_LE(static_cast<double>(size->low) - slack, wanted) << column;
  EXPECT_GE(static_cast<double>(size->high) + slack, wanted) << column;
  EXPECT_NEAR(static_cast<double>(size->bytes), wanted, slack) << column;
  EXPECT_LE(size->low, size->bytes);
  EXPECT_LE(size->bytes, size->high);
}

TEST(OomMessages, AllPublishedMessagesGiveTheTablesNumbers) {
  const auto all = rows();
  ASSERT_EQ(all.size(), 43U);
  for (const Row& row : all) {
    SCOPED_TRACE(row.at("id"));
    const auto log = read(row.at("text") + "\n");
    ASSERT_EQ(log.messages.size(), 1U);
    const OomMessage& message = log.messages[0];
    expect_gib(row, "tried_gib", message.requested);
    expect_gib(row, "capacity_gib", message.capacity);
    expect_gib(row, "allocated_gib", message.allocated);
    expect_gib(row, "free_gib", message.free);
    expect_gib(row, "private_pools_gib", message.private_pools);
    if (row.at("id") != "oom071") expect_gib(row, "in_use_gib", message.in_use);  // no number: WSL
    expect_gib(row, "reserved_gib", message.reserved());
    EXPECT_EQ(message.gpu ? std::to_string(*message.gpu) : "", row.at("gpu_index"));
    const auto outside = message.outside_pytorch();
    EXPECT_EQ(outside.has_value(), !row.at("outside_pytorch_gib").empty());
    if (!outside) continue;
    const double wanted = std::stod(row.at("outside_pytorch_gib")) * (1 << 30);
    EXPECT_LE(static_cast<double>(outside->low) - 1e5, wanted);
    EXPECT_GE(static_cast<double>(outside->high) + 1e5, wanted);
  }
}

TEST(OomMessages, WordingsAreTheTables) {
  const std::map<std::string, std::string> ours = {{"F4-NPU", "F4-NPU"}, {"F5-short", "short"}, {"F3-HIP", "F3-HIP"}};
  for (const Row& row : rows()) {
    const auto log = read(row.at("text"));
    ASSERT_EQ(log.messages.size(), 1U) << row.at("id");
    const auto named = ours.find(row.at("format"));
    EXPECT_EQ(log.messages[0].wording, named == ours.end() ? row.at("format") : named->second) << row.at("id");
  }
}

// Every message broken into lines of any width, with a launcher's prefix on each line, gives the same facts.
TEST(OomMessages, LineBreaksAndPrefixesChangeNothing) {
  for (const Row& row : rows()) {
    const std::string& text = row.at("text");
    const auto plain = read(text);
    ASSERT_EQ(plain.messages.size(), 1U);
    for (const std::size_t width : {7U, 23U, 80U, 120U}) {
      for (const std::string prefix : {"", "[rank3]: ", "[default3]:", " 3: ", "2026-01-31T12:34:56.789012345Z ",
                                       "[1,3]<stderr>:", "(RayTrainWorker pid=7, ip=10.0.0.3) ", "trainer-3  | "}) {
        std::string log = prefix + "Traceback (most recent call last):\n";
        for (std::size_t at = 0; at < text.size(); at += width) log += prefix + text.substr(at, width) + "\n";
        const auto broken = read(log + prefix + "done\n");
        ASSERT_EQ(broken.messages.size(), 1U) << row.at("id") << " at " << width << " after '" << prefix << "'\n"
                                              << log;
        const OomMessage& a = plain.messages[0];
        const OomMessage& b = broken.messages[0];
        EXPECT_EQ(a.wording, b.wording);
        EXPECT_EQ(a.requested->printed, b.requested->printed);
        EXPECT_EQ(a.reserved() ? a.reserved()->bytes : 0, b.reserved() ? b.reserved()->bytes : 0);
        EXPECT_EQ(a.free ? a.free->printed : "", b.free ? b.free->printed : "");
        const bool states_rank = prefix.find("3]:") != prefix.npos || prefix.find("3: ") != prefix.npos ||
                                 prefix.find("<stderr>") != prefix.npos;
        if (states_rank) {
          EXPECT_EQ(b.rank, 3);
        }
      }
    }
  }
}

// What the posters themselves, or the maintainers, found out.
TEST(OomMessages, ARequestOfNothingIsNotBlamedOnPoolsThatAreNotThere) {
  OomMessage message;
  message.requested = ingest::printed_size("0", "bytes");
  ASSERT_TRUE(message.requested);
  const auto diagnosis = ingest::diagnose(message);
  EXPECT_NE(diagnosis.kind, ingest::FailureKind::private_pool_idle);
}

TEST(OomMessages, SizesThatNoAllocatorGivesAreNotBelieved) {
  EXPECT_TRUE(ingest::printed_size("134217728.00", "gib"));
  EXPECT_FALSE(ingest::printed_size("17179869184.00", "gib"));
  EXPECT_FALSE(ingest::printed_size("8.65", "bytes"));
}

TEST(OomMessages, KindsOfFailure) {
  using ingest::FailureKind;
  const std::map<std::string, FailureKind> known = {
      {"oom052", FailureKind::impossible_request},  // a length taken from max_position_embeddings
      {"oom018", FailureKind::fragmentation},       // 21.8 GiB cached, not usable
      {"oom065", FailureKind::fragmentation},       // the documentation's example of it
      {"oom057", FailureKind::fragmentation},       // 37 GiB reserved but unallocated
      {"oom048", FailureKind::other_process},       // 10.5 GiB outside
      {"oom060", FailureKind::driver_fault},        // a reboot helped
      {"oom026", FailureKind::driver_fault},        // 8.7 GiB free
      {"oom069", FailureKind::driver_fault},        // a limit that this wording does not print
      {"oom062", FailureKind::true_capacity},       // 70 B parameters in 16 bits on one card
      {"oom067", FailureKind::true_capacity},
      {"oom068", FailureKind::true_capacity},
      {"oom008", FailureKind::unknown},
  };
  for (const Row& row : rows()) {
    const auto found = known.find(row.at("id"));
    if (found == known.end()) continue;
    const auto diagnosis = ingest::diagnose(read(row.at("text")).messages.at(0));
    EXPECT_STREQ(ingest::name_of(diagnosis.kind), ingest::name_of(found->second)) << row.at("id") << diagnosis.reason;
  }
}

}  // namespace
}  // namespace ullage
