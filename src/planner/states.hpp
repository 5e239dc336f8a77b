// SPDX-License-Identifier: Apache-2.0
// The states of a training: what lies on a device from one step to the next, from shapes and widths alone.
#pragma once

#include "base/result.hpp"
#include "ledger/chart.hpp"
#include "model/description.hpp"
#include "setup/optimizer.hpp"
#include "setup/precision.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::planner {

/// What is trained, and how.
struct Training {
  const setup::Precision* precision = nullptr;
  const setup::Optimizer* optimizer = nullptr;  ///< null for inference: neither gradients nor optimizer state
  std::vector<std::string> freeze;              ///< patterns with * and ?; what they match is not trained
  std::uint64_t ranks = 1;
  unsigned zero = 0;  ///< what the ranks share: 1 optimizer state, 2 gradients too, 3 parameters too
};

/// How the bytes of a line come about.
struct Formula {
  std::string line;     ///< its id
  std::string text;     ///< 4 B x 1,315,758,080 = 4.90 GiB
  std::string appears;  ///< when it is there first
};

/// The states of one rank. Bytes of tensors, without the rounding of the allocator.
struct States {
  std::vector<ledger::Line> lines;  ///< parameters; gradients and optimizer_state when there are any
  std::vector<Formula> formulas;
  std::uint64_t bytes = 0;
  std::uint64_t trained = 0;  ///< elements
  std::uint64_t frozen = 0;   ///< elements
};

/// Errors: `usage` for a pattern that matches no parameter, for patterns that leave none, and for an optimizer that
/// needs shapes or cannot work on master copies.
[[nodiscard]] Result<States> states_of(const model::Model& model, const Training& training);

}  // namespace ullage::planner
