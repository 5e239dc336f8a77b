// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/chart.hpp"
#include "report/json/json_writer.hpp"
#include "report/ledger_view.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ullage::report {

/// A line with its children, as the field `name`, or as an item when `name` is empty.
void write_line(JsonWriter& json, const ledger::Line& line, std::string_view name);

/// A field with a list of texts.
void write_texts(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts);

/// The beginning of the document of `ullage ledger`: its command, and all fields of the moment but `evidence`.
void begin_moment(JsonWriter& json, const MomentView& view);

/// The field `evidence`.
void write_evidence(JsonWriter& json, const EvidenceView& evidence);

}  // namespace ullage::report
