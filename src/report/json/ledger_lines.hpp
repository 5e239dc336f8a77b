// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/chart.hpp"
#include "report/json/json_writer.hpp"
#include "report/ledger_view.hpp"

#include <string_view>

namespace ullage::report {

/// A line with its children, as the field `name`, or as an item when `name` is empty.
void write_line(JsonWriter& json, const ledger::Line& line, std::string_view name);

/// The field `evidence`.
void write_evidence(JsonWriter& json, const EvidenceView& evidence);

}  // namespace ullage::report
