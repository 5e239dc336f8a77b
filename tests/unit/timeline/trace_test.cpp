// SPDX-License-Identifier: Apache-2.0
#include "timeline/trace.hpp"

#include <gtest/gtest.h>

namespace ullage::timeline {
namespace {

struct Call {
  const char* name;
  std::int64_t begin, end;
  std::uint64_t thread = 7;
  CallKind kind = CallKind::operation;
};

Trace trace_of(std::initializer_list<Call> calls,
               std::initializer_list<std::pair<std::int64_t, std::uint64_t>> events) {
  Trace trace;
  for (const Call& call : calls) {
    trace.calls.name.push_back(trace.strings.intern(call.name));
    trace.calls.begin_ns.push_back(call.begin);
    trace.calls.end_ns.push_back(call.end);
    trace.calls.thread.push_back(trace.thread_index(call.thread));
    trace.calls.external.push_back(0);
    trace.calls.sequence.push_back(-1);
    trace.calls.shapes.push_back(0);
    trace.calls.stack.push_back(0);
    trace.calls.kind.push_back(call.kind);
    trace.calls.forward_thread.push_back(0);
  }
  for (const auto& [time, thread] : events) {
    trace.memory.time_ns.push_back(time);
    trace.memory.bytes.push_back(512);
    trace.memory.address.push_back(4096);
    trace.memory.allocated.push_back(0);
    trace.memory.reserved.push_back(0);
    trace.memory.thread.push_back(trace.thread_index(thread));
    trace.memory.device.push_back(0);
  }
  link(trace);
  return trace;
}

std::string name(const Trace& trace, CallId call) {
  return call == no_call ? "none" : std::string(trace.strings.text(trace.calls.name[call]));
}

std::string parent_of(const Trace& trace, const std::string& wanted) {
  for (CallId i = 0; i < trace.calls.count(); ++i) {
    if (name(trace, i) == wanted) return name(trace, trace.calls.parent[i]);
  }
  return "not there";
}

TEST(Trace, CallsNestByTimeOnTheirThread) {
  const Trace trace =
      trace_of({{"inner", 20, 30}, {"outer", 10, 100}, {"other thread", 25, 26, 8}, {"after", 100, 110}}, {});
  EXPECT_EQ(parent_of(trace, "inner"), "outer");
  EXPECT_EQ(parent_of(trace, "other thread"), "none");
  EXPECT_EQ(parent_of(trace, "after"), "none");
}

TEST(Trace, OfCallsThatBeginTogetherTheLongerIsOutside) {
  const Trace trace = trace_of({{"short", 10, 20}, {"long", 10, 30}}, {});
  EXPECT_EQ(parent_of(trace, "short"), "long");
}

TEST(Trace, MemoryEventsBelongToTheInnermostCallOfTheirThread) {
  const Trace trace = trace_of({{"outer", 10, 100}, {"inner", 20, 30}}, {{25, 7}, {50, 7}, {5, 7}, {200, 7}, {25, 8}});
  const auto& call = trace.memory.call;  // sorted by time: 5, 25, 25, 50, 200
  EXPECT_EQ(name(trace, call[0]), "none");
  EXPECT_EQ(name(trace, call[1]), "inner");
  EXPECT_EQ(name(trace, call[2]), "none");
  EXPECT_EQ(name(trace, call[3]), "outer");
  EXPECT_EQ(name(trace, call[4]), "none");
}

TEST(Trace, WhatRunsOnTheDeviceIsNobodysParent) {
  const Trace trace = trace_of({{"kernel", 10, 100, 7, CallKind::kernel}, {"op", 20, 30}}, {{25, 7}});
  EXPECT_EQ(parent_of(trace, "op"), "none");
  EXPECT_EQ(name(trace, trace.memory.call[0]), "op");
}

}  // namespace
}  // namespace ullage::timeline
