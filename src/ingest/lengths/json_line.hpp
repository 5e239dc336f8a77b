// SPDX-License-Identifier: Apache-2.0
// The number of tokens that one line of JSON tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ullage::ingest {

struct JsonLength {
  std::uint64_t length = 0;
  std::string field;  ///< where it stood; empty for a bare list
};

/// `length`, `num_tokens` ... for messages.
[[nodiscard]] std::string json_length_fields();

/// The line's length, of the first of the known fields that it has. The error is what is wrong, without a place.
[[nodiscard]] tl::expected<JsonLength, std::string> read_json_length(std::string_view line);

}  // namespace ullage::ingest
