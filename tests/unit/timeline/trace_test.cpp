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
    trace.calls.push_back({trace.strings.intern(call.name), call.begin, call.end, trace.thread_index(call.thread), 0,
                           -1, 0, 0, call.kind, 0});
  }
  for (const auto& [time, thread] : events) {
    trace.memory.push_back({time, 512, 4096, 0, 0, trace.thread_index(thread), 0});
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
