// SPDX-License-Identifier: Apache-2.0
// From the time of one step to the time of a training, and the two estimates that need no step program.
#pragma once

#include "cost/step/time.hpp"

namespace ullage::cost {

/// A step of `tokens` tokens on each of `gpus` GPUs. Exchange between GPUs takes no time here.
struct Pace {
  SecondsRange step;
  double tokens = 0;
  double gpus = 1;

  [[nodiscard]] double tokens_per_second() const;  ///< of all GPUs
  [[nodiscard]] SecondsRange seconds_for(double training_tokens) const;
};

[[nodiscard]] constexpr double hours_of(double seconds) {
  return seconds / 3600;
}

/// Seconds of one step, were the model's FLOPs (without those that checkpointing does again) done at a constant share
/// of the peak, model FLOPs utilisation. 0 where no peak is known.
[[nodiscard]] double constant_mfu_seconds(double model_flops, double peak_flops, double utilisation);

/// Model FLOPs utilisation of a step.
[[nodiscard]] double utilisation_of(double model_flops, double peak_flops, double seconds);

/// Seconds on the back of an envelope: 6 * parameters * tokens at a rate in FLOP/s, of all GPUs together.
[[nodiscard]] double envelope_seconds(double parameters, double tokens, double flops_per_second);

}  // namespace ullage::cost
