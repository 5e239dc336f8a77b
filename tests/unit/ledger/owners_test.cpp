// SPDX-License-Identifier: Apache-2.0
#include "ledger/owners.hpp"

#include <gtest/gtest.h>

namespace ullage::ledger {
namespace {

using timeline::LiveBlock;

Tensor tensor(TensorClass tensor_class, std::uint64_t address, std::string state = "") {
  return {tensor_class, "w", std::move(state), "float32", "", address, 100};
}

TensorList list(std::size_t mark, std::vector<Tensor> tensors, bool complete = true) {
  TensorList result;
  result.mark = mark;
  for (bool& flag : result.complete) flag = complete;
  result.tensors = std::move(tensors);
  return result;
}

const std::size_t cuts[] = {10, 20, 30};

TEST(Owners, AStorageCountsOnceAtItsFirstOwner) {
  const LiveBlock live[] = {{4096, 512, 100, 0, false}};
  const TensorList lists[] = {list(0, {tensor(TensorClass::gradient, 4096), tensor(TensorClass::parameter, 4096),
                                       tensor(TensorClass::parameter, 4096)})};
  const auto owned = owned_by_blocks(lists, 0, live, cuts);
  EXPECT_EQ(owned.parameters, 512u);
  EXPECT_EQ(owned.total(), 512u);
}

TEST(Owners, ABlockBornAfterTheTensorWasSeenIsAnother) {
  const LiveBlock live[] = {{4096, 512, 100, 15, false}};
  const TensorList lists[] = {list(0, {tensor(TensorClass::gradient, 4096)})};
  EXPECT_EQ(owned_by_blocks(lists, 2, live, cuts).gone, 1u);
  const TensorList later[] = {list(1, {tensor(TensorClass::gradient, 4096)})};
  EXPECT_EQ(owned_by_blocks(later, 2, live, cuts).gradients, 512u);
}

TEST(Owners, ACompleteListEndsEarlierOnesOfItsClasses) {
  const LiveBlock live[] = {{4096, 512, 100, 0, false}, {8192, 1024, 100, 0, false}};
  const TensorList replaced[] = {list(0, {tensor(TensorClass::optimizer_state, 4096, "exp_avg")}),
                                 list(1, {tensor(TensorClass::optimizer_state, 8192, "exp_avg")})};
  EXPECT_EQ(owned_by_blocks(replaced, 2, live, cuts).optimizer_state.at("exp_avg"), 1024u);
  const TensorList added[] = {replaced[0], list(1, {tensor(TensorClass::optimizer_state, 8192, "exp_avg")}, false)};
  EXPECT_EQ(owned_by_blocks(added, 2, live, cuts).optimizer_state.at("exp_avg"), 1536u);
  EXPECT_EQ(owned_by_blocks(added, 0, live, cuts).total(), 512u);  // the second list comes later
}

TEST(Owners, BlocksWhoseFreeIsPendingBelongToNobody) {
  const LiveBlock live[] = {{4096, 512, 100, 0, true}};
  const TensorList lists[] = {list(0, {tensor(TensorClass::parameter, 4096)})};
  EXPECT_EQ(owned_by_blocks(lists, 0, live, cuts).total(), 0u);
}

TEST(Owners, WithoutBlocksSizesAreRoundedAndLimited) {
  const TensorList lists[] = {list(0, {tensor(TensorClass::parameter, 1), tensor(TensorClass::parameter, 1),
                                       tensor(TensorClass::buffer, 2), tensor(TensorClass::gradient, 3)})};
  const auto owned = owned_by_sizes(lists, 0, 1100);
  EXPECT_EQ(owned.parameters, 512u);
  EXPECT_EQ(owned.buffers, 512u);
  EXPECT_EQ(owned.gradients, 76u);
}

}  // namespace
}  // namespace ullage::ledger
