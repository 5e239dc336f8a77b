// SPDX-License-Identifier: Apache-2.0
// The fields `flops`, `time` and `envelope` of a plan.
#pragma once

#include "report/json/json_writer.hpp"
#include "report/plan_cost.hpp"

namespace ullage::report {

/// `flops` and `time` of one step.
void write_cost(JsonWriter& json, const PlanCost& cost);
/// `generation`.
void write_generation(JsonWriter& json, const PlanGeneration& generation);
void write_envelope(JsonWriter& json, const PlanEnvelope& envelope);

}  // namespace ullage::report
