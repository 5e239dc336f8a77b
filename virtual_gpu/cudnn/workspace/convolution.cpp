// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/cudnn/workspace/convolution.hpp"

#include <algorithm>

namespace ullage::vgpu::cudnn {
namespace {

using Extents = std::vector<std::uint64_t>;

constexpr int type_float = 0, type_half = 2, type_bfloat16 = 9;
constexpr std::uint64_t accumulator_bytes = 4;  // partial sums are fp32
constexpr std::uint64_t tensor_core_alignment = 16;

std::uint64_t product(const Extents& extents) {
  std::uint64_t result = 1;
  for (const std::uint64_t extent : extents) result *= extent;
  return result;
}

bool all_are(const Extents& extents, std::uint64_t value) {
  return std::all_of(extents.begin(), extents.end(), [value](std::uint64_t extent) { return extent == value; });
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// 16-bit types always; fp32 as TF32 from Ampere on, which PyTorch allows for cuDNN unless told otherwise.
bool uses_tensor_cores(const ConvolutionShape& s) {
  if (s.data_type == type_half || s.data_type == type_bfloat16) return s.compute_capability >= 70;
  return s.data_type == type_float && s.compute_capability >= 80;
}

/// Operands of tensor cores are read 16 bytes of channels at a time, so copies of them are padded.
std::uint64_t padded(const ConvolutionShape& s, std::uint64_t channels) {
  return round_up(channels, std::max<std::uint64_t>(tensor_core_alignment / s.element_bytes, 1));
}

bool aligned(const ConvolutionShape& s) {
  return padded(s, s.input_channels) == s.input_channels && padded(s, s.output_channels) == s.output_channels;
}

struct Copies {
  std::uint64_t input, output, filter;
};

Copies copies_as_nhwc(const ConvolutionShape& s) {
  const std::uint64_t per_group = padded(s, s.input_channels / std::max<std::uint64_t>(s.groups, 1));
  return {s.batch * padded(s, s.input_channels) * product(s.input) * s.element_bytes,
          s.batch * padded(s, s.output_channels) * product(s.output) * s.element_bytes,
          padded(s, s.output_channels) * per_group * product(s.filter) * s.element_bytes};
}

/// The sum over all pixels is split across multiprocessors; the parts are added up in fp32.
std::uint64_t partial_sums_bytes(const ConvolutionShape& s) {
  return filter_bytes(s) / s.element_bytes * accumulator_bytes;
}

/// Tensor-core kernels read NHWC. For NCHW operands cuDNN transposes what it reads; a forward kernel writes NCHW itself
/// (`nhwckrsc_nchw`), the backward ones do not.
std::uint64_t tensor_core_bytes(const ConvolutionShape& s) {
  const Copies copies = copies_as_nhwc(s);
  const bool copied = !s.channels_last || !aligned(s);
  switch (s.pass) {
    case Pass::forward:
      return copied ? copies.input + copies.filter : 0;
    case Pass::backward_data:
      return copied ? copies.output + copies.filter + copies.input : 0;
    case Pass::backward_filter:
      return (copied ? copies.input + copies.output : 0) + partial_sums_bytes(s);
  }
  return 0;
}

/// Without tensor cores: Winograd for 3x3; else a filter in the kernel's own order, and for the input gradient a buffer
/// of its size.
std::uint64_t plain_bytes(const ConvolutionShape& s) {
  const std::uint64_t winograd = winograd_bytes(s);
  if (winograd > 0) return winograd;
  return filter_bytes(s) + (s.pass == Pass::backward_data ? copies_as_nhwc(s).input : 0);
}

}  // namespace

std::uint64_t filter_bytes(const ConvolutionShape& s) {
  return s.output_channels * (s.input_channels / std::max<std::uint64_t>(s.groups, 1)) * product(s.filter) *
         s.element_bytes;
}

std::uint64_t transposed_copies_bytes(const ConvolutionShape& s) {
  const Copies copies = copies_as_nhwc(s);
  return copies.input + copies.output + 2 * copies.filter;
}

std::uint64_t explicit_columns_bytes(const ConvolutionShape& s) {
  return s.batch * s.input_channels * product(s.filter) * product(s.output) * s.element_bytes;
}

// A tile of 4x4 outputs comes from 6x6 inputs: 36 transformed values for each tile and channel of the input and of the
// output, and 36 for each pair of channels of the filter, all in fp32.
std::uint64_t winograd_bytes(const ConvolutionShape& s) {
  const bool applies =
      s.filter.size() == 2 && all_are(s.filter, 3) && all_are(s.stride, 1) && all_are(s.dilation, 1) && s.groups == 1;
  if (!applies) return 0;
  std::uint64_t tiles = s.batch;
  for (const std::uint64_t extent : s.output) tiles *= round_up(extent, 4) / 4;
  return 36 * accumulator_bytes *
         (tiles * (s.input_channels + s.output_channels) + s.input_channels * s.output_channels);
}

WorkspaceRange convolution_workspace(const ConvolutionShape& s) {
  if (s.element_bytes == 0) return {};
  if (s.groups > 1) return {0, 0, transposed_copies_bytes(s)};
  const std::uint64_t likely = uses_tensor_cores(s) ? tensor_core_bytes(s) : plain_bytes(s);
  std::uint64_t high = std::max(likely, winograd_bytes(s));
  // In their own layout the operands are not copied; parts of a gradient's sum are the most there is.
  high = std::max(high, s.channels_last && aligned(s) ? 4 * partial_sums_bytes(s) : transposed_copies_bytes(s));
  return {0, likely, high};
}

}  // namespace ullage::vgpu::cudnn
