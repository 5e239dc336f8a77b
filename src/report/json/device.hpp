// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json/json_writer.hpp"
#include "report/run_result.hpp"

namespace ullage::report {

/// The field `device` of a result.
void write_device(JsonWriter& json, const DeviceInfo& device);

}  // namespace ullage::report
