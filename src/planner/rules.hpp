// SPDX-License-Identifier: Apache-2.0
// The closed forms that go round for the memory of a training, as people use them: to be put beside a plan.
#pragma once

#include "model/network.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::planner {

/// One rule and its answer.
struct Rule {
  std::string name;
  std::string formula;  ///< with its numbers
  double bytes = 0;
  std::string misses;               ///< what is not in it
  std::vector<std::string> counts;  ///< what is in it and not in this setup
};

/// What the rules ask for.
struct RuleInput {
  double parameters = 0;
  double micro_batch = 0, sequence = 0;
  double states = 0;                   ///< bytes of states that the setup has, on one rank
  std::uint64_t checkpoint_every = 0;  ///< 1: every layer; 0: none
  bool keeps_scores = true;            ///< attention keeps its score matrices for the backward pass
};

/// In bytes: 16 a parameter; that and b s h (34 + 5 L), a misquotation; that and Korthikanti's s b h (34 + 5 a s / h) a
/// layer (arXiv 2205.05198), or 2 s b h a layer with full recomputation.
[[nodiscard]] std::vector<Rule> popular_rules(const model::Network& network, const RuleInput& input);

}  // namespace ullage::planner
