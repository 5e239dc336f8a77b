// SPDX-License-Identifier: Apache-2.0
#include "ledger/operator_table.hpp"

#include <gtest/gtest.h>

namespace ullage::ledger {
namespace {

using timeline::CallKind;

struct World {
  timeline::Trace trace;
  void call(const char* name, std::int64_t begin, std::int64_t end, CallKind kind = CallKind::operation,
            std::uint32_t external = 0, std::uint64_t thread = 1) {
    trace.calls.push_back(
        {trace.strings.intern(name), begin, end, trace.thread_index(thread), external, -1, 0, 0, kind, 0});
  }
  void memory(std::int64_t time, std::int64_t bytes, std::int16_t device = 0) {
    trace.memory.push_back({time, bytes, 1, 0, 0, trace.thread_index(1), device});
  }
  OperatorTable table() {
    link(trace);
    OperatorTable made = operator_table(trace, 0, [](timeline::CallId) { return std::string(); });
    sort(made, OperatorOrder::cpu);
    return made;
  }
};

TEST(OperatorTable, SelfIsWithoutTheCallsInside) {
  World world;
  world.call("aten::linear", 0, 100);
  world.call("block|Block", 5, 95, CallKind::module);
  world.call("aten::addmm", 10, 40);
  world.call("aten::addmm", 50, 60);
  world.memory(20, 512);
  world.memory(55, 1024);
  world.memory(58, -512);
  world.memory(70, 2048);
  world.memory(80, 99, -1);  // on the host
  world.memory(200, 4096);   // outside
  const OperatorTable table = world.table();
  ASSERT_EQ(table.rows.size(), 2u);
  const auto& linear = table.rows[0];
  EXPECT_EQ(linear.name, "aten::linear");
  EXPECT_EQ(linear.cpu_ns, 100);
  EXPECT_EQ(linear.self_cpu_ns, 60);
  EXPECT_EQ(linear.self_allocated, 2048u);
  EXPECT_EQ(linear.allocated, 3584u);
  EXPECT_EQ(linear.net, 3072);
  const auto& addmm = table.rows[1];
  EXPECT_EQ(addmm.calls, 2u);
  EXPECT_EQ(addmm.self_net, 1024);
  EXPECT_EQ(addmm.largest, 1024u);
  EXPECT_EQ(table.outside_allocated, 4096u);
  EXPECT_EQ(table.total.self_allocated, 3584u);
  EXPECT_EQ(table.total.self_cpu_ns, 100);
}

TEST(OperatorTable, KernelsBelongToTheCallThatLaunchedThem) {
  World world;
  world.call("aten::mm", 0, 10, CallKind::operation, 5);
  world.call("sgemm", 100, 130, CallKind::kernel, 5, 77);
  world.call("memcpy", 130, 140, CallKind::copy, 6, 77);
  const OperatorTable table = world.table();
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].device_ns, 30);
  EXPECT_TRUE(table.has_device_times);
}

}  // namespace
}  // namespace ullage::ledger
