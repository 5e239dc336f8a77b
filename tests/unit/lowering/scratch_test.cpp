// SPDX-License-Identifier: Apache-2.0
// Memory that kernels take for themselves: measured points, and shapes worked out by hand after PyTorch's rules.
#include "lowering/operators.hpp"
#include "lowering/operators/cub.hpp"
#include "tests/unit/lowering/world.hpp"

#include <gtest/gtest.h>

namespace ullage::lowering {
namespace {

using Bytes = std::vector<std::uint64_t>;

DeviceFacts architecture(int major, int minor) {
  DeviceFacts facts;
  facts.compute_major = major, facts.compute_minor = minor;
  return facts;
}

TEST(Cub, SortedPairsAsMeasured) {
  EXPECT_EQ(sort_bytes(architecture(8, 0), 4096), 84479u);
  EXPECT_EQ(sort_bytes(architecture(9, 0), 4096), 83455u);
}

Bytes requests_of_sum(const Extents& sizes, unsigned over, DType type = DType::fp32) {
  World world;
  const Tensor input = world.context.make(sizes, type);
  const Tensor sum = sum_raw(world.context, input, over, false);
  return world.requests(1);
}

// 32 x 4 threads of 4 outputs each: 8 blocks for 1024 outputs. A thread would have 2048 values, so each output is
// shared by as many blocks as leave it 16: 128. Staging: 4 bytes x 1024 outputs x 128 blocks x 32 threads in a row x 4.
TEST(Reduction, ColumnsOfManyRowsAreStaged) {
  EXPECT_EQ(requests_of_sum({8192, 1024}, 1), (Bytes{4096, 67108864, 32}));
}

// 512 threads in a row, 2048 values each: 128 blocks with a value each, and one semaphore
TEST(Reduction, OneSumOfManyValuesIsStaged) {
  EXPECT_EQ(requests_of_sum({1 << 20}, 1), (Bytes{4, 512, 4}));
}

TEST(Reduction, FewRowsAreNot) {
  EXPECT_EQ(requests_of_sum({64, 1024}, 1), (Bytes{4096}));
  EXPECT_EQ(requests_of_sum({8192, 1024}, 2), (Bytes{32768})) << "rows of 1024 values: one block does each";
}

// sums of 16-bit numbers are staged in 32 bits
TEST(Reduction, HalfTypesAreStagedWide) {
  EXPECT_EQ(requests_of_sum({1 << 20}, 1, DType::bf16), (Bytes{2, 512, 4}));
}

/// Without gradients, [1, heads, tokens, 64] in bf16.
Bytes requests_of_attention(std::int64_t heads, std::int64_t tokens, double dropped) {
  World world;
  const GradientMode off(world.context, false);
  const auto heads_of = [&] { return world.context.make({1, heads, tokens, 64}, DType::bf16); };
  const Tensor query = heads_of(), key = heads_of(), value = heads_of();
  const Tensor result = scaled_dot_product_attention(world.context, query, key, value, {{}, true, dropped});
  return world.requests(3);
}

// 4 heads x 13 blocks of 64 queries are 52 of 216 places; 777 keys are 4 blocks of 256: in 4 parts 208 are taken, in 2
// only 104, and 3 are no more even than 2.
TEST(FlashAttention, FewQueriesSplitTheKeys) {
  const Bytes made = requests_of_attention(4, 777, 0);
  ASSERT_GE(made.size(), 4u);
  EXPECT_EQ(made[0], 2u * 4 * 777 * 64);
  EXPECT_EQ(made[1], 4u * 4 * 777);
  EXPECT_EQ(made[2], 4u * 4 * 4 * 777);
  EXPECT_EQ(made[3], 4u * 4 * 4 * 777 * 64);
}

TEST(FlashAttention, NotWithDropoutNorWithManyHeads) {
  for (const Bytes& made : {requests_of_attention(4, 777, 0.1), requests_of_attention(14, 777, 0)})
    for (std::size_t i = 1; i < made.size(); ++i) EXPECT_LE(made[i], 4u * 14 * 777) << "no parts of the result";
}

}  // namespace
}  // namespace ullage::lowering
