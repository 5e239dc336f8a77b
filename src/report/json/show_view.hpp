// SPDX-License-Identifier: Apache-2.0
// A run of the history as JSON.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ullage::report {

struct ShownSetting {
  std::string source, key, type, text;
  std::optional<double> number;
};

struct ShowView {
  std::string run_json;
  std::string id, name, kind, started, directory;
  std::vector<ShownSetting> configuration;
  std::vector<std::pair<std::string_view, std::int64_t>> metrics;
};

/// The result as run.json has it, with `command` show and what the history knows beside: docs/schemas/show.schema.json.
/// Errors: `bad_input`.
[[nodiscard]] Result<std::string> show_json(const ShowView& view);

}  // namespace ullage::report
