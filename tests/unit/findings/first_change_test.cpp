// SPDX-License-Identifier: Apache-2.0
#include "findings/first_change.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "findings/owner.hpp"
#include "tests/unit/findings/world.hpp"

namespace ullage::findings {
namespace {

std::uint64_t saves(const World& world, const std::string& id) {
  for (const Change& change : changes_at(world.cut())) {
    if (change.id == id) return change.saves;
  }
  return 0;
}

// Three layers: probabilities of 32 MiB in 32 bits, their copy in 16 bits, a mask of bytes, queries of 5 MiB, an MLP.
World transformer() {
  World world;
  for (int layer = 0; layer < 3; ++layer) {
    const std::string block = "model.layers." + std::to_string(layer);
    world.add(32 * mib, Category::activations, block + ".attn", "aten::softmax");
    world.add(16 * mib, Category::activations, block + ".attn", "aten::dropout");
    world.add(8 * mib, Category::activations, block + ".attn", "aten::dropout");
    world.add(5 * mib, Category::activations, block + ".attn", "aten::matmul");
    world.add(32 * mib, Category::activations, block + ".attn", "aten::linear");
    world.add(20 * mib, Category::activations, block + ".mlp", "aten::gelu");
    world.add(4 * mib, Category::activations, block, "aten::add");
  }
  return world;
}

TEST(FirstChange, FusedAttentionSavesTheMatricesOfTheProbabilities) {
  World world = transformer();
  EXPECT_EQ(saves(world, "fused_attention"), 3 * (32 + 16 + 8) * mib);
  EXPECT_EQ(changes_at(world.cut()).front().id, "fused_attention");
  World none;
  none.add(32 * mib, Category::activations, "model.layers.0.attn", "aten::scaled_dot_product_attention");
  EXPECT_EQ(saves(none, "fused_attention"), 0U);
}

TEST(FirstChange, CheckpointingKeepsOneLayerAndTheBoundaries) {
  World world = transformer();
  const std::uint64_t layer = (32 + 16 + 8 + 5 + 32 + 20 + 4) * mib;
  EXPECT_EQ(saves(world, "checkpointing"), 2 * layer - 3 * 4 * mib);
  World one;
  one.add(64 * mib, Category::activations, "model.layers.0", "aten::linear");
  EXPECT_EQ(saves(one, "checkpointing"), 0U);
}

TEST(FirstChange, OptimizerStateInEightBits) {
  World world;
  world.add(256 * mib, Category::optimizer_state, "", "", "exp_avg");
  world.add(256 * mib, Category::optimizer_state, "", "", "exp_avg_sq");
  world.add(256 * mib, Category::optimizer_state, "", "", "master");
  EXPECT_EQ(saves(world, "optimizer_8bit"), (384 - 2) * mib);
}

TEST(FirstChange, NothingIsSaidOfWhatIsNotThere) {
  World world;
  world.add(512, Category::parameters, "model", "aten::empty", "weights");
  EXPECT_TRUE(changes_at(world.cut()).empty());
}

TEST(Owner, TheLargestCategoryAndItsLargestPart) {
  World world = transformer();
  world.add(200 * mib, Category::parameters, "model.layers.0", "aten::empty", "weights");
  const Owner owner = largest_owner(world.cut());
  EXPECT_EQ(owner.id, "activations");
  EXPECT_EQ(owner.bytes, 3 * 117 * mib);
  EXPECT_EQ(owner.allocated, (3 * 117 + 200) * mib);
  EXPECT_TRUE(owner.part == "model.layers.*.attn, aten::softmax" || owner.part == "model.layers.*.attn, aten::linear");
  EXPECT_EQ(owner.part_bytes, 96 * mib);
}

}  // namespace
}  // namespace ullage::findings
