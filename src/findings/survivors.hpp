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

/// The part of the survivors that an autograd graph holds.
struct KeptGraph {
  std::vector<AllocationId> allocations;  ///< empty when it is outputs alone
  bool grows = false;                     ///< of `growing`, else of `replaced`
};

/// Activations of at least two operators inside modules, most of which belong to nodes that no backward pass ran, or
/// which are, in every round, half of what a forward pass keeps (a graph that was retained).
KeptGraph kept_graph(const Subject& subject, const Survivors& survivors);

}  // namespace ullage::findings
