// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json/json_writer.hpp"
#include "report/plan_view.hpp"

namespace ullage::report {

/// The fields of a plan but schema_version and command.
void write_plan_fields(JsonWriter& json, const PlanView& view);

}  // namespace ullage::report
