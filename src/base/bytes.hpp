// SPDX-License-Identifier: Apache-2.0
// Sizes, percentages and durations as people write them. GiB (2^30) and GB (10^9) are different units.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace ullage {

/// A count of bytes that cannot be mixed up with another count.
struct Bytes {
  std::uint64_t value = 0;
  auto operator<=>(const Bytes&) const = default;
};

inline constexpr std::uint64_t kib = std::uint64_t{1} << 10;
inline constexpr std::uint64_t mib = std::uint64_t{1} << 20;
inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;
inline constexpr std::uint64_t tib = std::uint64_t{1} << 40;

/// `left + right`, or `bad_input` when the sum does not fit 64 bits.
[[nodiscard]] Result<std::uint64_t> checked_add(std::uint64_t left, std::uint64_t right);
/// `left * right`, or `bad_input` when the product does not fit 64 bits.
[[nodiscard]] Result<std::uint64_t> checked_multiply(std::uint64_t left, std::uint64_t right);

/// Bytes from `80GiB`, `80GB`, `512MiB`, `1.5GiB`, `4096`, `4096B` (units B, KiB, MiB, GiB, TiB, KB, MB, GB, TB; case
/// of the letters is ignored; a space before the unit is allowed). A fraction is rounded to the nearest byte. Errors:
/// `usage` for anything else, for `80G` (which of the two?) and for sizes over 2^64 - 1.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);

/// True for a bare number that is a size below 1 MiB but not 0: where memory is meant, it has lost its unit.
[[nodiscard]] bool has_lost_its_unit(std::string_view text);
/// What a bare number may have meant: `40GiB (2^30 bytes each) or 40GB (10^9)`.
[[nodiscard]] std::string units_for(std::string_view number);

/// `39.39 GiB`, `512 B`: the largest binary unit that gives at least 1, two decimals; plain bytes below 1 KiB.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);
/// As format_bytes, with a sign where negative: for differences.
[[nodiscard]] std::string format_signed_bytes(std::int64_t bytes);

/// Text that parse_size reads back to exactly `bytes`: a whole number of the largest binary unit that divides it
/// (`80GiB`).
[[nodiscard]] std::string format_exact_bytes(std::uint64_t bytes);

/// A fraction from `15%` or `0.15`; between 0 and 1. Errors: `usage`.
[[nodiscard]] Result<double> parse_percent(std::string_view text);

/// A duration from `90s`, `10m`, `1h`, `500ms`, `1.5h`; at least 1 ms, at most 365 days. Errors: `usage`.
[[nodiscard]] Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace ullage
