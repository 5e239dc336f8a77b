// SPDX-License-Identifier: Apache-2.0
// What steps leave behind.
#pragma once

#include <vector>

#include "findings/subject.hpp"

namespace ullage::findings {

struct Survivors {
  /// Made after the first round and still there at the end of the recording, by lines of code that left some behind in
  /// every round but the last: at least two of them.
  std::vector<AllocationId> growing;
  std::size_t rounds = 0;  ///< in which `growing` grew
  /// Made in an earlier round, alive at the peak, given up later: what a variable held until it got its next value.
  std::vector<AllocationId> replaced;
};

/// A round is a step, or, where nothing steps, what lies between two calls of the model. Parameters, gradients and
/// optimizer state are left out.
Survivors survivors_of(const Subject& subject);

/// Of `allocations` those that an autograd graph holds: made in a forward inside a module, by at least two different
/// operators. Nothing when it is the outputs alone.
std::vector<AllocationId> graph_of(const Subject& subject, std::vector<AllocationId> allocations);

}  // namespace ullage::findings
