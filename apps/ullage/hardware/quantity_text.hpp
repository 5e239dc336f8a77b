// SPDX-License-Identifier: Apache-2.0
// Quantities of a GPU as people write them: "165 TFLOP/s", "1008 GB/s", "24GiB".
#pragma once

#include "base/result.hpp"
#include "hardware/catalogue.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ullage::cli {

/// How many of the fact's own unit one `unit` is: 1e9 for GB/s of B/s. Case is ignored; nothing for a foreign unit.
[[nodiscard]] std::optional<double> unit_factor(const FactInfo& fact, std::string_view unit);

/// The units that unit_factor takes, for messages: "B/s, MB/s, GB/s or TB/s".
[[nodiscard]] std::string unit_names(const FactInfo& fact);

/// A number with or without a unit, in the fact's own unit. Errors: `bad_input`.
[[nodiscard]] Result<double> parse_quantity(const FactInfo& fact, std::string_view text);

/// Errors: `bad_input` for a value that no GPU has, as when a unit was forgotten.
[[nodiscard]] Result<void> check_plausible(const FactInfo& fact, double value);

}  // namespace ullage::cli
