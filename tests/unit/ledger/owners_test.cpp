// SPDX-License-Identifier: Apache-2.0
#include "ledger/owners.hpp"

#include <gtest/gtest.h>

namespace ullage::ledger {
namespace {

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
