// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/evaluate.hpp"

#include <gtest/gtest.h>

using namespace ullage::vgpu;

namespace {

constexpr const char* float_fill =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_";
constexpr const char* bf16_fill =
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIN3c108BFloat16EEESt5arrayIPcLm1EEEEviT0_T1_";

struct Call {
  std::int32_t count;
  float value;
  std::uint64_t pointers[2];
  void* arguments[3] = {&count, &value, pointers};
  KernelLaunch launch(const char* name) {
    KernelLaunch made;
    made.name = name;
    made.arguments = arguments;
    return made;
  }
};

TEST(Evaluate, ReadsAFillFromNameAndArguments) {
  Call call{10, 3.5f, {0x1000, 0}};
  const auto fill = as_fill(call.launch(float_fill));
  ASSERT_TRUE(fill);
  EXPECT_EQ(fill->destination, 0x1000u);
  EXPECT_EQ(fill->count, 10u);
  EXPECT_EQ(fill->value_bytes, 4u);
  EXPECT_EQ(*static_cast<const float*>(fill->value), 3.5f);
  EXPECT_EQ(as_fill(call.launch(bf16_fill))->value_bytes, 2u);
}

TEST(Evaluate, OtherKernelsAreNoFills) {
  Call call{10, 0, {0x2000, 0x3000}};
  const char* add =
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_";
  EXPECT_FALSE(as_fill(call.launch(add)));
  EXPECT_EQ(elementwise_output(call.launch(add)), 0x2000u);
  EXPECT_EQ(elementwise_output(call.launch("_Z6kernelv")), 0u);
}

TEST(Evaluate, ALaunchWithoutArgumentsIsNotRead) {
  KernelLaunch launch;
  launch.name = float_fill;
  EXPECT_FALSE(as_fill(launch));
}

}  // namespace
