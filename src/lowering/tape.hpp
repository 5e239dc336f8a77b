// SPDX-License-Identifier: Apache-2.0
// Writes a step program down while the lowering runs: requests, frees, operators, phases.
#pragma once

#include "program/program.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ullage::lowering {

class Tape {
 public:
  explicit Tape(program::Program& program) : program_(program) { program_.operators.push_back({}); }

  /// A request; none is noted for 0 bytes.
  std::uint32_t allocate(std::uint64_t bytes, program::Role role) {
    const auto id = static_cast<std::uint32_t>(program_.tensors.size());
    program_.tensors.push_back({bytes, role, static_cast<program::OperatorId>(program_.operators.size() - 1)});
    if (bytes > 0) program_.events.push_back(static_cast<program::Event>(id));
    return id;
  }
  void free(std::uint32_t id) {
    if (open_ && program_.tensors[id].bytes > 0) program_.events.push_back(~static_cast<program::Event>(id));
  }
  /// The tensor is this too; the stronger role stays.
  void is(std::uint32_t id, program::Role role) {
    auto& known = program_.tensors[id].role;
    known = std::min(known, role);
  }
  void enter_phase(program::Phase phase, std::uint32_t step, std::uint32_t micro_batch = 0) {
    program_.marks.push_back({program_.events.size(), program_.operators.size(), phase, step, micro_batch});
  }
  /// From here on requests are this operator's.
  program::Operator& begin_operator(const char* name) {
    auto& added = program_.operators.emplace_back();
    added.name = name;
    added.module = module;
    added.recomputed = recomputing;
    return added;
  }
  /// The operator that began last.
  [[nodiscard]] program::Operator& last_operator() { return program_.operators.back(); }
  /// What is freed later is not part of the program.
  void close() { open_ = false; }

  program::ModuleId module = 0;  ///< under which operators stand
  bool recomputing = false;
  [[nodiscard]] program::Program& program() { return program_; }

 private:
  program::Program& program_;
  bool open_ = true;
};

}  // namespace ullage::lowering
