// SPDX-License-Identifier: Apache-2.0
// The sections FLOPS and TIME of a plan, for people.
#pragma once

#include "report/plan_cost.hpp"

#include <string>

namespace ullage::report {

/// FLOPS and TIME of one step; `training_tokens` of --tokens, 0 without.
[[nodiscard]] std::string cost_text(const PlanCost& cost, double training_tokens);
/// FLOPS and TIME of a generation.
[[nodiscard]] std::string generation_text(const PlanGeneration& generation);
[[nodiscard]] std::string envelope_text(const PlanEnvelope& envelope);
/// Of all GPUs of a training, where its tokens are known: "5,204", "93.6".
[[nodiscard]] std::string gpu_hours_text(const PlanTime& time);
/// "812 ms", "1.25 s", "310 us".
[[nodiscard]] std::string seconds_text(double seconds);

}  // namespace ullage::report
