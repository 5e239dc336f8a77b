// SPDX-License-Identifier: Apache-2.0
// What steps leave behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "findings/subject.hpp"

namespace ullage::findings {

/// One line of code, or one operator of one module where no line is known, which holds more after every round: the
/// increases are positive and alike (the largest at most twice the smallest), or so are every second of them and the
/// others nothing. The first round, warm-up, does not count.
struct Growing {
  std::vector<AllocationId> allocations;  ///< made after the first round, there at the end of the last
  std::uint64_t per_round = 0;            ///< bytes, the mean of the increases
  bool every_second = false;              ///< increases and nothing by turns
  bool piles_up = false;  ///< blocks of several rounds are there; else each round gives up the last one's
};

struct Survivors {
  std::vector<Growing> growing;  ///< needs at least four rounds
  std::size_t increases = 0;     ///< how many were seen
  /// Made in an earlier step, alive at the peak, given up later: what a variable held until it got its next value.
  std::vector<AllocationId> replaced;
};

/// A round is a step, or, where nothing steps, what lies between two calls of the model. Parameters, gradients and
/// optimizer state are left out.
const Survivors& survivors_of(const Subject& subject);

/// The part of the survivors that an autograd graph holds.
struct KeptGraph {
  std::vector<AllocationId> allocations;  ///< empty when it is outputs alone
  bool grows = false;                     ///< of `growing`, else what a later training forward found there
};

/// Activations of at least two operators inside modules: of what grows, if no backward pass ran the nodes of a fifth of
/// it, or if it is, in every round, half of what a forward pass keeps (a graph that was retained); else what no
/// backward pass comes to and was made before the training forward of the peak.
KeptGraph kept_graph(const Subject& subject, const Survivors& survivors);

}  // namespace ullage::findings
