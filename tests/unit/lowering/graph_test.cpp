// SPDX-License-Identifier: Apache-2.0
// Who owns a tensor during the backward pass: that, and nothing else, says when memory is given back.
#include "lowering/graph.hpp"

#include "lowering/operators.hpp"
#include "tests/unit/lowering/world.hpp"

#include <gtest/gtest.h>

namespace ullage::lowering {
namespace {

constexpr std::int64_t width = 1000;

TEST(Graph, WhatANodeSavedGoesWhenItHasRun) {
  World world;
  Context& c = world.context;
  const Tensor leaf = world.leaf({width});
  std::vector<std::uint32_t> saved_ids;
  std::vector<std::vector<bool>> freed;  // of the saved tensors, as each node begins
  Tensor hidden = leaf;
  for (int i = 0; i < 3; ++i) {
    const Tensor kept = c.make({width}, DType::fp32);
    saved_ids.push_back(kept->storage->id);
    hidden = through(c, hidden, [&, saved = c.save(kept)](Context& again, Gradients& in, Gradients& out) {
      freed.emplace_back();
      for (const std::uint32_t id : saved_ids) freed.back().push_back(world.is_freed(id));
      (void)saved.get(again);
      out[0] = in[0];
    });
  }
  for (const std::uint32_t id : saved_ids) EXPECT_FALSE(world.is_freed(id)) << "the graph keeps it";
  run_backward(c, hidden);
  EXPECT_EQ(freed, (std::vector<std::vector<bool>>{{false, false, false}, {false, false, true}, {false, true, true}}));
  EXPECT_TRUE(world.is_freed(saved_ids[0]));
}

TEST(Graph, WhatIsSavedIsAnActivation) {
  World world;
  const Tensor kept = world.context.make({width}, DType::fp32), other = world.context.make({width}, DType::fp32);
  const Saved saved = world.context.save(kept);
  EXPECT_EQ(world.program.tensors[kept->storage->id].role, program::Role::activation);
  EXPECT_EQ(world.program.tensors[other->storage->id].role, program::Role::temporary);
}

TEST(Graph, AResultThatIsNotUsedGivesItsNodeUp) {
  World world;
  const Tensor leaf = world.leaf({width});
  const std::uint64_t before = world.live_bytes();
  { const Tensor result = relu(world.context, leaf); }
  EXPECT_EQ(world.live_bytes(), before);
}

/// Two branches behind one tensor. The first that runs, the later made, gives `of_later`.
std::size_t requests_of_a_sum(World& world, const std::function<Tensor(Context&)>& of_later) {
  Context& c = world.context;
  const Tensor leaf = world.leaf({width});
  const auto fresh = [](Context& again, Gradients&, Gradients& out) { out[0] = again.make({width}, DType::fp32); };
  const Tensor hidden = through(c, leaf, [](Context&, Gradients& in, Gradients& out) { out[0] = in[0]; });
  const Tensor one = through(c, hidden, fresh);
  const Tensor other =
      through(c, hidden, [of_later](Context& again, Gradients&, Gradients& out) { out[0] = of_later(again); });
  Tensor root = c.make({width}, DType::fp32);
  c.attach("Root", root, {&one, &other}, [](Context&, Gradients& in, Gradients& out) { out[0] = out[1] = in[0]; });
  const std::size_t before = world.requests().size();
  run_backward(c, root);
  return world.requests(before).size();
}

TEST(Graph, AGradientThatNobodyElseOwnsTakesAnotherInPlace) {
  World world;
  // that of the root, and one of each branch
  EXPECT_EQ(requests_of_a_sum(world, [](Context& c) { return c.make({width}, DType::fp32); }), 3u);
}

TEST(Graph, AGradientThatSomebodyOwnsIsNotChanged) {
  World world;
  const Tensor owned = world.context.make({width}, DType::fp32);
  // that of the root, one of a branch, the sum; the leaf takes the sum as it is
  EXPECT_EQ(requests_of_a_sum(world, [owned](Context&) { return owned; }), 3u);
  World another;
  const Tensor gapped = another.context.make({width}, {2}, DType::fp32);
  EXPECT_EQ(requests_of_a_sum(another, [](Context& c) { return c.make({width}, {2}, DType::fp32); }), 4u)
      << "neither is one with gaps: a sum is made";
}

TEST(Graph, ALeafTakesAGradientOfItsOwnOrACopy) {
  World world;
  Context& c = world.context;
  const Tensor leaf = world.leaf({width}), shared = c.make({width}, DType::fp32);
  std::uint32_t given = 0;
  const auto give = [&](const Tensor& what) {
    return [&given, what](Context& again, Gradients&, Gradients& out) {
      out[0] = what ? what : again.make({width}, DType::fp32);
      given = out[0]->storage->id;
    };
  };
  run_backward(c, through(c, leaf, give({})));
  EXPECT_EQ(leaf->gradient->storage->id, given);
  EXPECT_EQ(world.program.tensors[given].role, program::Role::gradient);
  leaf->gradient = Tensor();
  run_backward(c, through(c, leaf, give(shared)));
  EXPECT_NE(leaf->gradient->storage->id, shared->storage->id);
  EXPECT_EQ(world.program.tensors[shared->storage->id].role, program::Role::temporary);
}

TEST(Graph, ASecondPassAddsToTheGradientInPlace) {
  World world;
  const Tensor leaf = world.leaf({width});
  const auto pass = [&] { run_backward(world.context, neg(world.context, leaf)); };
  pass();
  const std::uint32_t first = leaf->gradient->storage->id;
  const std::uint64_t live = world.live_bytes();
  pass();
  EXPECT_EQ(leaf->gradient->storage->id, first);
  EXPECT_EQ(world.live_bytes(), live);
}

constexpr int deep = 200'000;

Tensor chain(World& world, const Tensor& leaf) {
  Tensor hidden = leaf;
  for (int i = 0; i < deep; ++i) hidden = neg(world.context, hidden);
  return hidden;
}

TEST(Graph, ADeepOneRuns) {
  World world;
  const Tensor leaf = world.leaf({2});
  run_backward(world.context, chain(world, leaf));
  EXPECT_EQ(world.live_bytes(), 16u) << "the leaf and its gradient";
  EXPECT_GT(world.requests().size(), 2u * deep);
}

TEST(Graph, ADeepOneGoesWithoutHavingRun) {
  World world;
  const Tensor leaf = world.leaf({2});
  { const Tensor end = chain(world, leaf); }
  EXPECT_EQ(world.live_bytes(), 8u);
}

}  // namespace
}  // namespace ullage::lowering
