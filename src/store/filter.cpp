// SPDX-License-Identifier: Apache-2.0
#include "store/filter.hpp"

#include <fmt/format.h>

namespace ullage::store {
namespace {

void add_one_of(Condition& condition, const char* column, const std::vector<std::string>& values) {
  if (values.empty()) return;
  condition.sql += fmt::format(" AND {} IN (", column);
  for (std::size_t i = 0; i < values.size(); ++i) condition.sql += i == 0 ? "?" : ",?";
  condition.sql += ")";
  condition.texts.insert(condition.texts.end(), values.begin(), values.end());
}

void add_script(Condition& condition, const std::string& script) {
  if (script.find_first_of("*?") != script.npos) {
    condition.sql += " AND (script GLOB ? OR script GLOB '*/' || ?)";
  } else {
    condition.sql += " AND (script = ? OR substr(script, -length(?) - 1) = '/' || ?)";
    condition.texts.push_back(script);
  }
  condition.texts.insert(condition.texts.end(), 2, script);
}

}  // namespace

Condition condition_of(const Filter& filter) {
  Condition condition{"1", {}};
  add_one_of(condition, "gpu", filter.gpus);
  add_one_of(condition, "verdict", filter.verdicts);
  add_one_of(condition, "kind", filter.kinds);
  add_one_of(condition, "name", filter.names);
  if (filter.script) add_script(condition, *filter.script);
  if (filter.since_ms) condition.sql += fmt::format(" AND started_ms >= {}", *filter.since_ms);
  if (filter.until_ms) condition.sql += fmt::format(" AND started_ms < {}", *filter.until_ms);
  for (const auto& [key, value] : filter.settings) {
    condition.sql += " AND EXISTS (SELECT 1 FROM settings WHERE run = runs.number AND settings.name = ?";
    condition.sql += value.empty() ? ")" : " AND text = ?)";
    condition.texts.push_back(key);
    if (!value.empty()) condition.texts.push_back(value);
  }
  return condition;
}

}  // namespace ullage::store
