// SPDX-License-Identifier: Apache-2.0
// The time of a step in the JSON of a plan or a run.
#pragma once

#include "report/reconcile_view.hpp"
#include "store/json_value.hpp"

#include <optional>
#include <string>

namespace ullage::cli {

/// Seconds of `{"seconds": , "low": , "high": }`; nothing for one that is no interval around its value.
[[nodiscard]] std::optional<report::ColumnTime> column_time(const store::Json& time, std::string known_by);

}  // namespace ullage::cli
