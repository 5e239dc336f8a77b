// SPDX-License-Identifier: Apache-2.0
#include "attribution/graph_nodes.hpp"

#include <gtest/gtest.h>

#include "tests/unit/attribution/trace_builder.hpp"

namespace ullage::attribution {
namespace {

using Fate = GraphNodes::Fate;

TEST(GraphNodes, ABackwardPassRanTheOneAndNotTheOther) {
  TraceBuilder t;
  t.call("aten::linear", 0, 10, 1, 5);
  t.call("aten::gelu", 20, 30, 1, 6);
  t.call("aten::empty", 22, 24, 1);
  t.call("aten::relu", 40, 50, 1, 7);  // of a branch that nobody uses
  t.call("aten::sum", 60, 70, 1, 8);
  t.call("aten::ones_like", 80, 90, 1, 9);
  for (const auto& [name, sequence, begin] : {std::tuple{"autograd::engine::evaluate_function: SumBackward0", 8, 100},
                                              {"autograd::engine::evaluate_function: GeluBackward0", 6, 200},
                                              {"autograd::engine::evaluate_function: AddmmBackward0", 5, 300}})
    t.call(name, begin, begin + 50, 2, sequence, 1);
  link(t.trace);
  const GraphNodes nodes(t.trace);
  EXPECT_EQ(nodes.fate_of(t.find("aten::linear")), Fate::ran);
  EXPECT_EQ(nodes.fate_of(t.find("aten::empty")), Fate::ran) << "inside gelu";
  EXPECT_EQ(nodes.fate_of(t.find("aten::relu")), Fate::never_ran);
  EXPECT_EQ(nodes.fate_of(t.find("aten::ones_like")), Fate::unknown) << "nothing after it says that it made a node";
}

TEST(GraphNodes, WithoutGradientsThereAreNone) {
  TraceBuilder t;
  t.call("aten::linear", 0, 10, 1);      // under no_grad: no number
  t.call("aten::argmax", 20, 30, 1, 5);  // makes no node: the next carries the same number
  t.call("aten::gelu", 40, 50, 1, 5);
  t.call("aten::sum", 60, 70, 1, 6);
  link(t.trace);
  const GraphNodes nodes(t.trace);
  EXPECT_EQ(nodes.fate_of(t.find("aten::linear")), Fate::unknown);
  EXPECT_EQ(nodes.fate_of(t.find("aten::argmax")), Fate::unknown);
  EXPECT_EQ(nodes.fate_of(t.find("aten::gelu")), Fate::never_ran);
}

TEST(GraphNodes, WhatCheckpointingComputesAgainIsLeftOut) {
  TraceBuilder t;
  t.call("aten::linear", 0, 10, 1, 5);
  t.call("aten::sum", 20, 30, 1, 6);
  t.call("autograd::engine::evaluate_function: AddmmBackward0", 100, 200, 2, 5, 1);
  t.call("aten::relu", 110, 120, 2, 1);
  t.call("aten::gelu", 130, 140, 2, 2);
  link(t.trace);
  EXPECT_EQ(GraphNodes(t.trace).fate_of(t.find("aten::relu")), Fate::unknown);
}

}  // namespace
}  // namespace ullage::attribution
