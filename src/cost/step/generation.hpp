// SPDX-License-Identifier: Apache-2.0
// What a generation costs: the pass over the prompt, then a pass for each token.
#pragma once

#include "cost/step/time.hpp"
#include "cost/step/work.hpp"
#include "program/program.hpp"

#include <cstdint>

namespace ullage::cost {

/// Passes one after the other, none of which begins before the one before has ended.
struct PassesCost {
  std::uint64_t passes = 0;
  double matmul_flops = 0, attention_flops = 0;
  double bytes = 0;  ///< read and written
  SecondsRange seconds;
  double device_seconds = 0;  ///< without waits for the host, as kernels that are launched as one graph
  std::array<double, bounds.size()> seconds_by_bound{};  ///< of seconds.value

  [[nodiscard]] Bound bound_by() const;
};

struct GenerationCost {
  PassesCost prefill;       ///< the first pass
  PassesCost decode;        ///< all others
  SecondsRange last_token;  ///< the last pass alone; of the decode the slowest
};

/// Each forward pass of the program is a step of it. O(operators).
[[nodiscard]] GenerationCost generation_cost(const program::Program& program, const DeviceRates& rates);

}  // namespace ullage::cost
