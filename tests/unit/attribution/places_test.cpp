// SPDX-License-Identifier: Apache-2.0
#include "attribution/places.hpp"

#include <gtest/gtest.h>

#include "tests/unit/attribution/trace_builder.hpp"

namespace ullage::attribution {
namespace {

TEST(Places, AForwardHasItsOutermostOperatorAndInnermostModule) {
  TraceBuilder t;
  t.module("block|Block", 0, 100);
  t.module("block.fc|Linear", 10, 50);
  t.call("aten::linear", 12, 48, 1, 5);
  t.call("aten::addmm", 20, 40, 1, 5);
  link(t.trace);
  const Place place = Places(t.trace).of(t.find("aten::addmm"));
  EXPECT_EQ(t.text(place.operation), "aten::linear");
  EXPECT_EQ(t.text(place.module), "block.fc|Linear");
  EXPECT_EQ(place.node, no_call);
}

TEST(Places, ABackwardIsChargedToTheForwardThatCausedIt) {
  TraceBuilder t;
  t.module("fc|Linear", 10, 50);
  t.call("aten::linear", 12, 48, 1, 5);
  t.call("autograd::engine::evaluate_function: AddmmBackward0", 200, 300, 2, 5, 1);
  t.call("AddmmBackward0", 201, 290, 2, 5, 1);
  t.call("aten::mm", 210, 280, 2);
  link(t.trace);
  const Place place = Places(t.trace).of(t.find("aten::mm"));
  EXPECT_EQ(t.text(place.operation), "aten::linear");
  EXPECT_EQ(t.text(place.module), "fc|Linear");
  EXPECT_NE(place.node, no_call);
  EXPECT_FALSE(place.recomputed);
}

TEST(Places, SequenceNumbersOfTwoThreadsAreKeptApart) {
  TraceBuilder t;  // a recomputed forward on the backward thread has numbers of its own
  t.module("first|A", 0, 20);
  t.call("aten::mul", 1, 19, 1, 3);
  t.call("aten::exp", 25, 26, 1, 4);
  t.call("autograd::engine::evaluate_function: ExpBackward0", 30, 40, 2, 4, 1);
  t.call("aten::tanh", 100, 110, 2, 3);
  t.call("autograd::engine::evaluate_function: TanhBackward0", 120, 130, 2, 3, 2);
  t.call("aten::one", 121, 129, 2);
  t.call("autograd::engine::evaluate_function: MulBackward0", 140, 150, 2, 3, 1);
  t.call("aten::two", 141, 149, 2);
  link(t.trace);
  Places places(t.trace);
  EXPECT_EQ(t.text(places.of(t.find("aten::one")).operation), "aten::tanh");
  EXPECT_EQ(t.text(places.of(t.find("aten::two")).operation), "aten::mul");
}

TEST(Places, AModuleInsideABackwardIsARecomputation) {
  TraceBuilder t;
  t.call("autograd::engine::evaluate_function: CheckpointFunctionBackward", 0, 100, 2, 9, 1);
  t.module("block|Block", 10, 90, 2);
  t.call("aten::gelu", 20, 30, 2, 1);
  link(t.trace);
  const Place place = Places(t.trace).of(t.find("aten::gelu"));
  EXPECT_TRUE(place.recomputed);
  EXPECT_EQ(t.text(place.module), "block|Block");
  EXPECT_EQ(t.text(place.operation), "aten::gelu");
}

}  // namespace
}  // namespace ullage::attribution
