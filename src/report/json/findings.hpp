// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/findings_view.hpp"
#include "report/json/json_writer.hpp"

namespace ullage::report {

/// The fields `findings` and, where there are any, `ignored_findings`.
void write_findings(JsonWriter& json, const FindingsView& view);

}  // namespace ullage::report
