// SPDX-License-Identifier: Apache-2.0
#include "ledger/run_ledger.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace ullage::ledger {
namespace {

Mark random_mark() {
  Mark mark;
  mark.name = static_cast<MarkName>(*rc::gen::inRange(0, 9));
  mark.counters.allocated = *rc::gen::inRange<std::uint64_t>(0, 1 << 20);
  mark.counters.reserved = *rc::gen::inRange<std::uint64_t>(0, 1 << 20);
  mark.counters.peak_allocated = *rc::gen::inRange<std::uint64_t>(0, 1 << 21);
  return mark;
}

TensorList random_list(std::size_t marks) {
  TensorList list;
  list.mark = *rc::gen::inRange<std::size_t>(0, marks);
  for (bool& complete : list.complete) complete = *rc::gen::arbitrary<bool>();
  const int count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    Tensor tensor;
    tensor.tensor_class = static_cast<TensorClass>(*rc::gen::inRange(0, 4));
    tensor.address = *rc::gen::inRange<std::uint64_t>(0, 8);
    tensor.bytes = *rc::gen::inRange<std::uint64_t>(0, 1 << 18);
    list.tensors.push_back(tensor);
  }
  return list;
}

TEST(RunLedger, AlwaysAddsUp) {
  EXPECT_TRUE(rc::check("adds up, nothing negative", [] {
    std::vector<Mark> marks;
    const int count = *rc::gen::inRange(1, 12);
    for (int i = 0; i < count; ++i) marks.push_back(random_mark());
    std::vector<TensorList> lists;
    for (int i = 0; i < 3; ++i) lists.push_back(random_list(marks.size()));
    RunInput input;
    input.marks = marks;
    input.lists = lists;
    input.context_bytes = 1000;
    const auto ledger = build(input);
    RC_ASSERT(ledger);
    RC_ASSERT(check(ledger->used).empty());
    for (const char* id : {"unattributed", "cached", "parameters", "gradients", "optimizer_state"}) {
      RC_ASSERT(find(ledger->used, id)->bytes <= (1u << 20));
    }
    RC_ASSERT(ledger->peak.used >= ledger->peak.reserved + 1000);
  }));
}

TEST(RunLedger, NothingWithoutMarks) {
  EXPECT_FALSE(build({}));
}

TEST(RunLedger, BuffersStandUnderParameters) {
  Mark mark;
  mark.counters.allocated = mark.counters.reserved = 4096;
  TensorList list;
  list.tensors = {{TensorClass::parameter, "w", "", "", "", 1, 512}, {TensorClass::buffer, "b", "", "", "", 2, 512}};
  RunInput input;
  input.marks = std::span(&mark, 1);
  input.lists = std::span(&list, 1);
  const auto ledger = build(input);
  EXPECT_EQ(find(ledger->used, "parameters")->bytes, 1024u);
  EXPECT_EQ(find(ledger->used, "parameters.buffers")->bytes, 512u);
}

TEST(RunLedger, WhatTheDeviceHoldsBeyondPyTorchIsOutside) {
  Mark mark;
  mark.counters.allocated = mark.counters.reserved = 4096;
  const std::uint64_t device = 5000;
  RunInput input;
  input.marks = std::span(&mark, 1);
  input.device_bytes = std::span(&device, 1);
  input.device_peak_bytes = 6000;
  input.context_bytes = 100;
  const auto ledger = build(input);
  EXPECT_EQ(find(ledger->used, "outside_pytorch")->bytes, 904u);
  EXPECT_EQ(ledger->used.bytes, 5100u);
  EXPECT_EQ(ledger->peak.used, 6100u);
}

}  // namespace
}  // namespace ullage::ledger
