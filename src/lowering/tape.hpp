// SPDX-License-Identifier: Apache-2.0
// Writes a step program down while the lowering runs: requests, frees, operators, phases.
#pragma once

#include "program/folded.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ullage::lowering {

class Tape {
 public:
  explicit Tape(program::Folded& folded) : folded_(folded), program_(folded.program) {
    folded_.stretches.push_back({});
    program_.operators.push_back({});
  }

  /// A request; none is noted for 0 bytes.
  std::uint32_t allocate(std::uint64_t bytes, program::Role role) {
    be_at(layer);
    const auto id = static_cast<std::uint32_t>(program_.tensors.size());
    program_.tensors.push_back({bytes, role, static_cast<program::OperatorId>(program_.operators.size() - 1)});
    folded_.tensor_layers.push_back(layer);
    if (bytes > 0) program_.events.push_back(static_cast<program::Event>(id));
    return id;
  }
  void free(std::uint32_t id) {
    if (!open_ || program_.tensors[id].bytes == 0) return;
    be_at(layer != 0 ? layer : layer_of(id));
    program_.events.push_back(~static_cast<program::Event>(id));
  }
  /// The tensor is this too; the stronger role stays.
  void is(std::uint32_t id, program::Role role) {
    auto& known = program_.tensors[id].role;
    known = std::min(known, role);
  }
  void enter_phase(program::Phase phase, std::uint32_t step, std::uint32_t micro_batch = 0) {
    program_.marks.push_back({program_.events.size(), program_.operators.size(), phase, step, micro_batch});
    folded_.stretches.push_back({program_.events.size(), program_.operators.size(), layer});
  }
  /// From here on requests are this operator's.
  program::Operator& begin_operator(const char* name) {
    be_at(layer);
    auto& added = program_.operators.emplace_back();
    added.name = name;
    added.module = module;
    added.recomputed = recomputing;
    return added;
  }
  /// The module of that name below the one that operators stand under.
  program::ModuleId module_below(std::string_view name) {
    const program::ModuleId found = program_.module(module, name);
    if (found == folded_.module_layers.size()) folded_.module_layers.push_back(layer);
    return found;
  }
  /// The operator that began last.
  [[nodiscard]] program::Operator& last_operator() { return program_.operators.back(); }
  /// The last step is done so many times more.
  void repeat_last(std::uint32_t times) { folded_.repeated_steps = times; }
  /// What is freed later is not part of the program.
  void close() { open_ = false; }

  program::ModuleId module = 0;    ///< under which operators stand
  program::LayerNumber layer = 0;  ///< whose they are
  bool recomputing = false;
  [[nodiscard]] program::Program& program() { return program_; }
  /// Which layer asked for a tensor.
  [[nodiscard]] program::LayerNumber layer_of(std::uint32_t id) const { return folded_.tensor_layers[id]; }
  /// How many layers of the whole model that one stands for, with itself.
  [[nodiscard]] std::uint64_t layers_like(program::LayerNumber one) const {
    return folded_.fold.more > 0 && folded_.fold.repeats(one) ? folded_.fold.more + std::uint64_t{1} : 1;
  }

 private:
  /// What comes now is of that layer.
  void be_at(program::LayerNumber now) {
    program::Stretch& last = folded_.stretches.back();
    if (last.layer == now) return;
    if (last.event == program_.events.size() && last.first_operator == program_.operators.size())
      last.layer = now;
    else
      folded_.stretches.push_back({program_.events.size(), program_.operators.size(), now});
  }

  program::Folded& folded_;
  program::Program& program_;
  bool open_ = true;
};

}  // namespace ullage::lowering
