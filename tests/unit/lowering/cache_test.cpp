// SPDX-License-Identifier: Apache-2.0
// What a KV cache holds, and which attention FlashAttention takes.
#include "lowering/cache.hpp"
#include "lowering/operators.hpp"
#include "tests/unit/lowering/world.hpp"

#include <gtest/gtest.h>

namespace ullage::lowering {
namespace {

model::Network two_layers(std::optional<std::uint64_t> window = {}) {
  model::Network network;
  network.layers = 2;
  network.sliding_window = window;
  return network;
}

/// Keys that attention sees after passes of so many tokens; `cache` goes through them.
std::int64_t keys_after(World& world, KeyValueCache& cache, std::initializer_list<std::int64_t> passes) {
  Tensor keys;
  for (const std::int64_t tokens : passes) {
    keys = world.context.make({1, 2, tokens, 8}, DType::bf16);
    Tensor values = world.context.make({1, 2, tokens, 8}, DType::bf16);
    cache.update(world.context, 0, keys, values);
    cache.pass(tokens);
  }
  return keys->sizes[2];
}

TEST(KeyValueCache, GrowsByEveryToken) {
  World world;
  const model::Network network = two_layers();
  KeyValueCache cache(network);
  EXPECT_EQ(keys_after(world, cache, {5, 1, 1}), 7);
  EXPECT_EQ(cache.keys_of(1, false), 8);
  EXPECT_EQ(world.live_bytes(), 2u * 2 * 7 * 8 * 2);  // keys and values; what was before is given back
}

TEST(KeyValueCache, KeepsOneLessThanAWindow) {
  World world;
  const model::Network network = two_layers(4);
  KeyValueCache cache(network);
  EXPECT_EQ(keys_after(world, cache, {5, 1, 1}), 4);
  EXPECT_EQ(cache.keys_of(1, true), 4);
  EXPECT_EQ(cache.keys_of(1, false), 8);
  EXPECT_EQ(world.live_bytes(), 2u * 2 * 4 * 8 * 2 + 8);  // views of four tokens, and the width of the window
}

TEST(FlashAttention, IsRefusedWithWhatIsAllowed) {
  DeviceFacts ampere, turing, ada;
  turing.compute_major = 7;
  ada.compute_minor = 9;
  EXPECT_FALSE(flash_refusal(ampere, {DType::bf16, 256, false, true, true}));
  EXPECT_TRUE(flash_refusal(turing, {DType::fp16, 64, false, true, false}));
  EXPECT_TRUE(flash_refusal(ampere, {DType::fp32, 64, false, true, false}));
  EXPECT_TRUE(flash_refusal(ampere, {DType::bf16, 64, true, true, false}));
  EXPECT_TRUE(flash_refusal(ampere, {DType::bf16, 264, false, false, false}));
  EXPECT_TRUE(flash_refusal(ada, {DType::bf16, 224, false, true, false}));
  EXPECT_FALSE(flash_refusal(ada, {DType::bf16, 224, false, false, false}));
  EXPECT_FALSE(flash_refusal(ada, {DType::bf16, 256, false, true, false}));
  EXPECT_TRUE(flash_refusal(ada, {DType::bf16, 256, false, true, true}));
}

}  // namespace
}  // namespace ullage::lowering
