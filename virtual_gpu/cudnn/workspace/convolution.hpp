// SPDX-License-Identifier: Apache-2.0
// How much scratch memory cuDNN's plan for a convolution asks for: an estimate with a range.
//
// A plan's workspace is the sum of what its algorithm keeps beside the operands. The algorithms and their sizes are
// visible in a published trace of ResNet-50 (docs/convolutions.md); which one is chosen is cuDNN's secret.
#pragma once

#include <cstdint>
#include <vector>

#include "virtual_gpu/device/workspace_range.hpp"

namespace ullage::vgpu::cudnn {

enum class Pass { forward, backward_data, backward_filter };

/// Sizes are those of the forward pass, whichever pass is computed.
struct ConvolutionShape {
  Pass pass = Pass::forward;
  int compute_capability = 80;      ///< 10 x major + minor
  int data_type = 0;                ///< cudnnDataType_t of the operands
  std::uint64_t element_bytes = 4;  ///< of the operands
  bool channels_last = false;
  std::uint64_t batch = 1, input_channels = 1, output_channels = 1, groups = 1;
  std::vector<std::uint64_t> input, output, filter;  ///< spatial extents
  std::vector<std::uint64_t> stride, dilation;
};

/// Bytes beside the operands of the algorithms that the published trace shows.
std::uint64_t transposed_copies_bytes(const ConvolutionShape& shape);  ///< all operands once more as NHWC, filter twice
std::uint64_t winograd_bytes(const ConvolutionShape& shape);  ///< non-fused F(4x4, 3x3); 0 where it does not apply
std::uint64_t explicit_columns_bytes(const ConvolutionShape& shape);  ///< the unfolded input
std::uint64_t filter_bytes(const ConvolutionShape& shape);            ///< in the operands' type

WorkspaceRange convolution_workspace(const ConvolutionShape& shape);

}  // namespace ullage::vgpu::cudnn
