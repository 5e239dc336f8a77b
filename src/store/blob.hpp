// SPDX-License-Identifier: Apache-2.0
// Texts as zstd frames.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace ullage::store {

[[nodiscard]] std::string packed(std::string_view text);

/// Errors: `io` when it is no whole frame, or one that says to be larger than 1 GiB.
[[nodiscard]] Result<std::string> unpacked(std::string_view frame);

}  // namespace ullage::store
