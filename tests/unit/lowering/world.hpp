// SPDX-License-Identifier: Apache-2.0
// A device and an empty program for tests of the lowering.
#pragma once

#include "lowering/context.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace ullage::lowering {

/// An A100, unless told otherwise.
struct World {
  explicit World(const DeviceFacts& facts = {}) : context(tape, facts) { tape.enter_phase(program::Phase::load, 0); }
  program::Folded folded;
  program::Program& program = folded.program;
  Tape tape{folded};
  Context context;

  /// What is trained.
  Tensor leaf(const Extents& sizes) {
    Tensor made = context.make(sizes, DType::fp32, program::Role::parameter);
    made->requires_grad = true;
    return made;
  }
  /// Bytes of all requests from the `first` one on.
  [[nodiscard]] std::vector<std::uint64_t> requests(std::size_t first = 0) const {
    std::vector<std::uint64_t> bytes;
    for (const program::Event event : program.events)
      if (program::is_request(event)) bytes.push_back(program.tensors[program::tensor_of(event)].bytes);
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(first));
    return bytes;
  }
  [[nodiscard]] bool is_freed(std::uint32_t id) const {
    return std::ranges::find(program.events, ~static_cast<program::Event>(id)) != program.events.end();
  }
  [[nodiscard]] std::uint64_t live_bytes() const {
    std::uint64_t bytes = 0;
    for (const program::Event event : program.events) {
      const std::uint64_t size = program.tensors[program::tensor_of(event)].bytes;
      bytes = program::is_request(event) ? bytes + size : bytes - size;
    }
    return bytes;
  }
  /// How often an operator ran, first or again.
  [[nodiscard]] std::ptrdiff_t runs_of(std::string_view name, bool recomputed) const {
    return std::ranges::count_if(
        program.operators, [&](const program::Operator& op) { return op.name == name && op.recomputed == recomputed; });
  }
};

/// An identity whose backward is given.
inline Tensor through(Context& context, const Tensor& input, Backward backward) {
  Tensor result = context.make(input->sizes, input->type);
  context.attach("Through", result, {&input}, std::move(backward));
  return result;
}

}  // namespace ullage::lowering
