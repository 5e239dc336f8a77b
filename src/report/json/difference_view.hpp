// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/difference_view.hpp"
#include "report/json/json_writer.hpp"

#include <string_view>
#include <vector>

namespace ullage::report {

/// A difference with those below it, as the field `name`, or as an item when `name` is empty.
void write_difference(JsonWriter& json, const ledger::Difference& line, std::string_view name);

/// The field `configuration`: settings that differ.
void write_settings(JsonWriter& json, const std::vector<ChangedSetting>& settings);

}  // namespace ullage::report
