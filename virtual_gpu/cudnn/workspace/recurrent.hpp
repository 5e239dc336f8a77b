// SPDX-License-Identifier: Apache-2.0
// How much scratch memory and reserve space cuDNN asks for to run a recurrent net: estimates with ranges.
//
// The reserve space is what the forward pass keeps for the backward pass; PyTorch saves it as a tensor. It holds what
// each step computed in each layer: LSTM four gates and the cell; GRU both products of its three gates, as the reset
// gate acts on one of them alone; a plain net its one gate; and the outputs between the layers. The ratio of LSTM to
// GRU that follows, 23 : 27 for four layers, is that of published sizes (pytorch/pytorch issue 2895).
#pragma once

#include <cstdint>

#include "virtual_gpu/device/workspace_range.hpp"

namespace ullage::vgpu::cudnn {

enum class Cell { plain, lstm, gru };

struct RecurrentShape {
  Cell cell = Cell::lstm;
  bool training = true;
  std::uint64_t layers = 1, directions = 1;
  std::uint64_t hidden = 1, output = 1;  ///< width of a layer, and of what it passes on (a projection is narrower)
  std::uint64_t steps = 1, batch = 1;    ///< of the padded batch
  std::uint64_t tokens = 1;              ///< steps that the sequences really have
  std::uint64_t element_bytes = 4;
  std::uint64_t weight_bytes = 0;  ///< all weights
};

/// Kept from forward to backward; 0 in inference. Low: gates only, of the sequences' own lengths; high: in fp32, with
/// masks of dropout.
WorkspaceRange recurrent_reserve(const RecurrentShape& shape);

/// For one call: the weights in the kernels' order, and gates for ten steps of every layer. Low: persistent kernels
/// need none.
WorkspaceRange recurrent_workspace(const RecurrentShape& shape);

}  // namespace ullage::vgpu::cudnn
