// SPDX-License-Identifier: Apache-2.0
// Flags whose value is one of several names.
#pragma once

#include "apps/ullage/flags.hpp"
#include "base/result.hpp"
#include "hardware/catalogue.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ullage::cli {

/// The position of a flag's value among `names`. Errors: `usage`, with the nearest name.
[[nodiscard]] Result<std::size_t> choice(const Arguments& arguments, std::string_view flag,
                                         std::span<const std::string_view> names);

/// The GPU of --gpu or of the variable ULLAGE_GPU, where the command has --gpu-file also one of that file. Errors:
/// `usage`; without either it lists the names.
[[nodiscard]] Result<const Gpu*> chosen_gpu(const Arguments& arguments);

/// The GPUs of `--gpu A,B` or `--gpu all`, or the one of ULLAGE_GPU; none when neither is there.
[[nodiscard]] Result<std::vector<const Gpu*>> chosen_gpus(const Arguments& arguments);

/// The catalogue, and after it a user's own GPUs.
[[nodiscard]] std::vector<const Gpu*> all_gpus(std::span<const Gpu> own);

}  // namespace ullage::cli
