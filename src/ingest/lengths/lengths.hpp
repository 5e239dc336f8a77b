// SPDX-License-Identifier: Apache-2.0
// Reads how long the sequences of a data set are: a number a line, or a JSON object a line that says it.
#pragma once

#include "base/result.hpp"
#include "ingest/file/source.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ullage::ingest {

/// The most that one file may hold.
inline constexpr std::uint64_t most_lengths = 1'000'000'000;

struct Lengths {
  std::vector<std::uint32_t> tokens;  ///< in the order of the file
  std::uint64_t empty = 0;            ///< sequences of 0 tokens among them
  std::string field;                  ///< of the first JSON line: where the lengths were found; empty for bare numbers
};

/// A line is a whole number from 0 to 10^9; or a JSON object with `length`, `num_tokens`, `n_tokens` or `token_count`
/// (a number), or `input_ids` or `tokens` (a list, whose items count), the first of these that is there; or such a list
/// itself. Blank lines do not count. Errors: `bad_input` with the number of the line; for a file without any length;
/// for compressed data that are damaged.
[[nodiscard]] Result<Lengths> read_lengths(Source& source);

}  // namespace ullage::ingest
