// SPDX-License-Identifier: Apache-2.0
// GPUs as `ullage gpus` shows them: a table of all, every number of one, JSON.
#pragma once

#include "hardware/catalogue.hpp"

#include <span>
#include <string>

namespace ullage::cli {

[[nodiscard]] std::string compute_capability(const Gpu& gpu);

/// A line per GPU, those of a user's own file last.
[[nodiscard]] std::string gpu_table(std::span<const Gpu* const> gpus);
/// Every number with its range, source and, where a rate is missing, why.
[[nodiscard]] std::string gpu_details(const Gpu& gpu);
[[nodiscard]] std::string gpus_json(std::span<const Gpu* const> gpus);

}  // namespace ullage::cli
