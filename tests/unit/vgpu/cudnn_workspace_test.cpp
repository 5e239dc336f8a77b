// SPDX-License-Identifier: Apache-2.0
// Sizes of cuDNN workspaces. Measured values are those of a published trace: ResNet-50, batch 32, fp32, a V100,
// torch 1.9 (pytorch/kineto, tb_plugin/samples), whose kernels tell the algorithm. docs/convolutions.md.
#include <gtest/gtest.h>

#include "virtual_gpu/cudnn/workspace/convolution.hpp"
#include "virtual_gpu/cudnn/workspace/recurrent.hpp"

namespace ullage::vgpu::cudnn {
namespace {

constexpr int bfloat16 = 9;

ConvolutionShape square(Pass pass, std::uint64_t in, std::uint64_t out, std::uint64_t size, std::uint64_t filter,
                        std::uint64_t stride = 1) {
  ConvolutionShape shape;
  shape.pass = pass;
  shape.compute_capability = 70;
  shape.batch = 32;
  shape.input_channels = in;
  shape.output_channels = out;
  shape.input = {size, size};
  shape.output = {size / stride, size / stride};
  shape.filter = {filter, filter};
  shape.stride = {stride, stride};
  shape.dilation = {1, 1};
  return shape;
}

TEST(ConvolutionWorkspace, WinogradIsAsMeasured) {
  EXPECT_EQ(winograd_bytes(square(Pass::forward, 256, 256, 14, 3)), 47'185'920u);
  EXPECT_EQ(winograd_bytes(square(Pass::backward_data, 512, 512, 7, 3)), 56'623'104u);
  EXPECT_EQ(winograd_bytes(square(Pass::backward_filter, 64, 64, 56, 3)), 116'195'328u);
  // The trace gives the size of the block, which is a whole segment here: a multiple of 2 MiB.
  const std::uint64_t asked = winograd_bytes(square(Pass::forward, 128, 128, 28, 3));
  EXPECT_EQ((asked + (2u << 20) - 1) / (2u << 20) * (2u << 20), 60'817'408u);
  EXPECT_EQ(winograd_bytes(square(Pass::forward, 256, 256, 28, 3, 2)), 0u);
}

TEST(ConvolutionWorkspace, OtherAlgorithmsAreAsMeasuredButForTheirIndices) {
  constexpr std::uint64_t indices = 64 << 10;  // precomputed offsets of the kernels
  const auto near = [](std::uint64_t model, std::uint64_t measured) {
    return model <= measured && measured - model <= indices;
  };
  EXPECT_TRUE(near(transposed_copies_bytes(square(Pass::forward, 256, 256, 28, 3, 2)), 36'833'792));
  EXPECT_EQ(explicit_columns_bytes(square(Pass::forward, 512, 512, 14, 3, 2)), 28'901'376u);
  EXPECT_TRUE(near(filter_bytes(square(Pass::backward_filter, 1024, 2048, 14, 1, 2)), 8'393'216));
  EXPECT_TRUE(near(filter_bytes(square(Pass::backward_filter, 512, 512, 14, 3, 2)), 9'481'728));
  EXPECT_TRUE(near(filter_bytes(square(Pass::forward, 256, 512, 56, 1, 2)), 531'456));
  EXPECT_TRUE(near(convolution_workspace(square(Pass::backward_data, 512, 256, 28, 1)).likely, 51'911'680));
}

TEST(ConvolutionWorkspace, RangesHoldWhatWasMeasured) {
  struct Measured {
    ConvolutionShape shape;
    std::uint64_t bytes;
  };
  const Measured all[] = {
      {square(Pass::forward, 3, 64, 224, 7, 2), 114'176},
      {square(Pass::forward, 64, 64, 56, 1), 36'352},
      {square(Pass::forward, 64, 64, 56, 3), 410'112},
      {square(Pass::forward, 128, 512, 28, 1), 0},
      {square(Pass::forward, 128, 128, 56, 3, 2), 595'968},
      {square(Pass::forward, 256, 256, 28, 3, 2), 36'833'792},
      {square(Pass::forward, 512, 512, 14, 3, 2), 28'901'376},
      {square(Pass::forward, 512, 512, 7, 3), 56'623'104},
      {square(Pass::backward_data, 128, 512, 28, 1), 0},
      {square(Pass::backward_data, 256, 64, 56, 1), 102'847'488},
      {square(Pass::backward_data, 64, 256, 56, 1), 25'777'152},
      {square(Pass::backward_data, 64, 64, 56, 3), 410'112},
      {square(Pass::backward_filter, 64, 64, 56, 3), 116'195'328},
      {square(Pass::backward_filter, 512, 2048, 7, 1), 4'197'888},
      {square(Pass::backward_filter, 256, 1024, 14, 1), 0},
  };
  for (const Measured& measured : all) {
    const WorkspaceRange range = convolution_workspace(measured.shape);
    EXPECT_LE(range.low, range.likely);
    EXPECT_LE(range.likely, range.high);
    EXPECT_LE(range.low, measured.bytes);
    EXPECT_GE(range.high + (128 << 10), measured.bytes);
  }
}

TEST(ConvolutionWorkspace, ChannelsLastNeedsNoCopies) {
  ConvolutionShape shape = square(Pass::forward, 64, 128, 28, 3);
  shape.compute_capability = 90;
  shape.data_type = bfloat16;
  shape.element_bytes = 2;
  EXPECT_EQ(convolution_workspace(shape).likely, 32u * 64 * 28 * 28 * 2 + 64 * 128 * 9 * 2);
  shape.channels_last = true;
  EXPECT_EQ(convolution_workspace(shape).likely, 0u);
  shape.pass = Pass::backward_filter;
  EXPECT_EQ(convolution_workspace(shape).likely, 64u * 128 * 9 * 4);  // the gradient's parts in fp32
}

TEST(ConvolutionWorkspace, CopiesForTensorCoresArePadded) {
  ConvolutionShape shape = square(Pass::forward, 3, 64, 224, 7, 2);
  shape.compute_capability = 80;
  shape.data_type = bfloat16;
  shape.element_bytes = 2;
  EXPECT_EQ(convolution_workspace(shape).likely, 32u * 8 * 224 * 224 * 2 + 64 * 8 * 49 * 2);
}

TEST(ConvolutionWorkspace, WhatIsNotUnderstoodIsZeroWithARange) {
  ConvolutionShape shape = square(Pass::forward, 64, 64, 28, 3);
  shape.groups = 64;
  EXPECT_EQ(convolution_workspace(shape).likely, 0u);
  EXPECT_GT(convolution_workspace(shape).high, 0u);
  shape.element_bytes = 0;
  EXPECT_EQ(convolution_workspace(shape).high, 0u);
}

/// pytorch/pytorch issue 2895: four layers of 320; the inputs of 123 features follow from the numbers of parameters.
TEST(RecurrentReserve, RatioOfCellsIsAsPublished) {
  RecurrentShape shape;
  shape.layers = 4;
  shape.hidden = shape.output = 320;
  shape.steps = 1000;
  shape.batch = 25;
  shape.tokens = 25'000;
  EXPECT_EQ(recurrent_reserve(shape).likely, 736'000'000u);
  shape.cell = Cell::gru;
  EXPECT_EQ(recurrent_reserve(shape).likely, 864'000'000u);
  shape.training = false;
  EXPECT_EQ(recurrent_reserve(shape).high, 0u);
}

TEST(RecurrentWorkspace, IsAsPublished) {
  RecurrentShape shape;
  shape.layers = 4;
  shape.hidden = shape.output = 320;
  shape.steps = 1000;
  shape.batch = 25;
  shape.weight_bytes = 4 * 756'160 * 4;
  EXPECT_EQ(recurrent_workspace(shape).likely, 17'730'560u);
  shape.cell = Cell::gru;
  shape.weight_bytes = 3 * 756'160 * 4;
  EXPECT_EQ(recurrent_workspace(shape).likely, 13'169'920u);
}

}  // namespace
}  // namespace ullage::vgpu::cudnn
