// SPDX-License-Identifier: Apache-2.0
#include "cost/step/totals.hpp"

#include "cost/step/flops.hpp"

namespace ullage::cost {

double Pace::tokens_per_second() const {
  return step.value > 0 ? tokens * gpus / step.value : 0;
}

SecondsRange Pace::seconds_for(double training_tokens) const {
  const double steps = tokens > 0 ? training_tokens / (tokens * gpus) : 0;
  return {steps * step.low, steps * step.value, steps * step.high};
}

double constant_mfu_seconds(double model_flops, double peak_flops, double utilisation) {
  const double rate = peak_flops * utilisation;
  return rate > 0 ? model_flops / rate : 0;
}

double utilisation_of(double model_flops, double peak_flops, double seconds) {
  const double possible = peak_flops * seconds;
  return possible > 0 ? model_flops / possible : 0;
}

double envelope_seconds(double parameters, double tokens, double flops_per_second) {
  return flops_per_second > 0 ? rule_of_thumb_flops(parameters, tokens) / flops_per_second : 0;
}

}  // namespace ullage::cost
