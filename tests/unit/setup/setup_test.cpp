// SPDX-License-Identifier: Apache-2.0
#include "setup/optimizer.hpp"
#include "setup/precision.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::setup {
namespace {

TEST(Precisions, AreNamedOnceInAFrameworkAndHaveASource) {
  std::set<std::pair<std::string_view, Framework>> seen;
  for (const Precision& precision : precisions()) {
    EXPECT_TRUE(seen.insert({precision.name, precision.framework}).second) << precision.name;
    EXPECT_FALSE(precision.source.empty());
    EXPECT_EQ(precision.weights, precision.weight_type == "fp32" ? 4u : 2u);
  }
}

TEST(Precisions, TheFirstOfEqualNamesHolds) {
  EXPECT_EQ(find_precision("fp16-master", "").value()->framework, Framework::deepspeed);
  EXPECT_EQ(find_precision("fp16-master", "megatron").value()->gradient_copy, 4u);
  EXPECT_EQ(find_precision("fp32", "").value()->framework, Framework::pytorch);
}

TEST(Precisions, MistakesNameWhatThereIs) {
  EXPECT_EQ(find_precision("bf16-autocas", "").error().hint, "did you mean 'bf16-autocast' or 'fp16-autocast'?");
  EXPECT_EQ(find_precision("fp32", "torch").error().what, "unknown value 'torch'");
  EXPECT_NE(find_precision("bf16-autocast", "megatron").error().expected.find("fp16-master"), std::string::npos);
}

TEST(Optimizers, EntriesFollowTheShape) {
  const std::uint64_t shape[] = {6, 5, 4};
  EXPECT_EQ(entries(Extent::elements, shape, 120), 120u);
  EXPECT_EQ(entries(Extent::rows, shape, 120), 30u);
  EXPECT_EQ(entries(Extent::columns, shape, 120), 24u);
  EXPECT_EQ(entries(Extent::blocks, shape, 257), 2u);
  EXPECT_EQ(entries(Extent::tensor, shape, 120), 1u);
}

TEST(Optimizers, RulesForSmallAndLargeAndForMatricesShareAllParameters) {
  for (const std::uint64_t elements : {0u, 1u, 4095u, 4096u})
    EXPECT_NE(applies(Applies::small, 1, elements), applies(Applies::large, 1, elements));
  for (const std::size_t dimensions : {0u, 1u, 2u, 3u})
    EXPECT_NE(applies(Applies::matrices, dimensions, 9), applies(Applies::vectors, dimensions, 9));
}

}  // namespace
}  // namespace ullage::setup
