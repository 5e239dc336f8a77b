// SPDX-License-Identifier: Apache-2.0
// The FLOPs of a step beside the rule of thumb, 6 for each parameter and token, and what lies between the two.
#pragma once

#include "program/program.hpp"

#include <cstdint>
#include <optional>

namespace ullage::cost {

/// What a step trains.
struct Trained {
  double parameters = 0;  ///< of the model, shared ones once
  double tokens = 0;      ///< of one step
  bool backward = true;   ///< false: forward passes alone
};

/// FLOPs. `counted` is the sum of the other five: what operators do, as torch.utils.flop_counter counts it.
struct RuleComparison {
  double rule = 0;            ///< 6 * parameters * tokens; 2 of forward passes alone
  double not_multiplied = 0;  ///< below 0: parameters that no token is multiplied with, as an embedding's and norms'
  double attention = 0;       ///< scores and their products with the values, forward and backward, nothing masked away
  double recomputed = 0;      ///< run again by activation checkpointing
  double not_trained = 0;     ///< below 0: gradients of weights or inputs that nobody wants
  double counted = 0;
};

/// Without `step` the last one.
[[nodiscard]] RuleComparison compare_with_rule(const program::Program& program, const Trained& trained,
                                               std::optional<std::uint32_t> step = std::nullopt);

/// FLOPs of training on so many tokens by the rule: 6 * parameters * tokens (Kaplan et al. 2020, arXiv 2001.08361,
/// section 2.1: 2 for the forward pass, twice that for the backward pass).
[[nodiscard]] constexpr double rule_of_thumb_flops(double parameters, double tokens) {
  return 6 * parameters * tokens;
}

}  // namespace ullage::cost
