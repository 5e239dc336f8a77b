// SPDX-License-Identifier: Apache-2.0
// Large counts as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace ullage::cli {

/// 7B, 1.3b, 350M, 2T, 6738415616: K, M, B and T are decimal. Nothing for anything else.
[[nodiscard]] std::optional<double> scaled_number(std::string_view text);

}  // namespace ullage::cli
