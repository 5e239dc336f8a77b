// SPDX-License-Identifier: Apache-2.0
// Whose the memory of a step program is at one moment, as lines of the chart of accounts.
#pragma once

#include "ledger/chart.hpp"
#include "program/program.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::planner {

/// A tensor that is alive, and the block that the allocator gave it.
struct LiveTensor {
  program::TensorId tensor = 0;
  std::uint64_t block_bytes = 0;
};

/// parameters, gradients, optimizer state, activations, temporaries, inputs, workspaces, rounding, and what is reserved
/// and not allocated. They add up to `reserved`.
[[nodiscard]] std::vector<ledger::Line> lines_of(const program::Program& program, const std::vector<LiveTensor>& live,
                                                 std::uint64_t reserved);

/// The lines that tensors count in.
class LineNames {
 public:
  explicit LineNames(const program::Program& program) : program_(program), modules_(program.modules.size()) {}
  /// The id one level below the account: activations.model.layers.*.mlp; the account's own where nothing is below.
  std::string of(const program::Tensor& tensor);
  /// Its last part; empty where nothing is below the account.
  std::string below_account(const program::Tensor& tensor);

 private:
  const std::string& module_of(program::ModuleId module);
  const program::Program& program_;
  std::vector<std::string> modules_;
};

}  // namespace ullage::planner
