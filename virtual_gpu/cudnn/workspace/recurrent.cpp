// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/cudnn/workspace/recurrent.hpp"

#include <algorithm>

namespace ullage::vgpu::cudnn {
namespace {

std::uint64_t gates(Cell cell) {
  return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1;
}

/// Values of the layer's width that a step of a layer keeps.
std::uint64_t kept_values(Cell cell) {
  return cell == Cell::lstm ? 5 : cell == Cell::gru ? 6 : 1;
}

/// States of a layer beside its gates in the buffer of a call: an LSTM's two and their gradients, a GRU's one.
std::uint64_t states(Cell cell) {
  return cell == Cell::lstm ? 4 : 2;
}

constexpr std::uint64_t steps_at_once = 10;
constexpr std::uint64_t widest_element = 4;

std::uint64_t between_layers(const RecurrentShape& s) {
  return (s.layers - 1) * s.directions * s.output;
}

}  // namespace

WorkspaceRange recurrent_reserve(const RecurrentShape& s) {
  if (!s.training || s.layers == 0) return {};
  const std::uint64_t width = s.layers * s.directions * s.hidden;
  const std::uint64_t values = kept_values(s.cell) * width + between_layers(s);
  const std::uint64_t padded_tokens = s.steps * s.batch;
  return {gates(s.cell) * width * s.tokens * s.element_bytes, values * padded_tokens * s.element_bytes,
          (values + between_layers(s)) * padded_tokens * std::max(s.element_bytes, widest_element)};
}

WorkspaceRange recurrent_workspace(const RecurrentShape& s) {
  const std::uint64_t values = gates(s.cell) * std::min(steps_at_once, s.steps) + states(s.cell);
  const std::uint64_t buffer = values * s.layers * s.directions * s.batch * s.hidden * s.element_bytes;
  const std::uint64_t likely = s.weight_bytes + buffer;
  return {0, likely, 2 * likely};
}

}  // namespace ullage::vgpu::cudnn
