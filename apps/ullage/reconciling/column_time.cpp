// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/reconciling/column_time.hpp"

namespace ullage::cli {

std::optional<report::ColumnTime> column_time(const store::Json& time, std::string known_by) {
  const auto seconds = [&](const char* key) {
    const auto* value = store::at(&time, key);
    return value != nullptr && value->IsNumber() ? value->GetDouble() : 0;
  };
  report::ColumnTime taken{seconds("seconds"), seconds("low"), seconds("high"), std::move(known_by)};
  const bool holds = taken.low >= 0 && taken.low <= taken.seconds && taken.seconds <= taken.high;
  return holds && !taken.known_by.empty() ? std::optional(std::move(taken)) : std::nullopt;
}

}  // namespace ullage::cli
