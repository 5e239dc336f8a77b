// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <string>

namespace ullage::model {

/// The most bytes that a configuration may have; real ones have a few thousand.
inline constexpr std::size_t most_config_bytes = std::size_t{4} << 20;

/// A whole file. Errors: `io`; `bad_input` for more than most_config_bytes.
[[nodiscard]] Result<std::string> read_config_file(const std::string& path);

}  // namespace ullage::model
