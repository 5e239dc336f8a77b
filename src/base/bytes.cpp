// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace ullage {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::array<Unit, 10> units{{{"", 1},
                                      {"B", 1},
                                      {"KiB", kib},
                                      {"MiB", mib},
                                      {"GiB", gib},
                                      {"TiB", tib},
                                      {"KB", 1'000},
                                      {"MB", 1'000'000},
                                      {"GB", 1'000'000'000},
                                      {"TB", 1'000'000'000'000}}};

constexpr std::array<Unit, 4> binary_units{{{"TiB", tib}, {"GiB", gib}, {"MiB", mib}, {"KiB", kib}}};

// A decimal number and what follows it: "1.5 GiB" -> {"1.5", "GiB"}.
struct Amount {
  std::string_view number;
  std::string_view unit;
};

Amount split_amount(std::string_view text) {
  text = trim(text);
  const auto end = text.find_first_not_of("0123456789.");
  const auto cut = end == std::string_view::npos ? text.size() : end;
  return {text.substr(0, cut), trim(text.substr(cut))};
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> unit_bytes(std::string_view name) {
  for (const Unit& unit : units) {
    if (equal_ignoring_case(unit.name, name)) return unit.bytes;
  }
  return std::nullopt;
}

/// "e30GiB", what follows the number of 1e30GiB.
bool is_exponent(std::string_view unit) {
  return unit.size() > 1 && (unit[0] == 'e' || unit[0] == 'E') &&
         std::string_view("0123456789+-").find(unit[1]) != std::string_view::npos;
}

tl::unexpected<Error> bad_size(std::string_view text, std::string what) {
  return fail(ErrorKind::usage, std::move(what), fmt::format("'{}'", text),
              "a size such as 80GiB, 80GB, 512MiB or 4096",
              "GiB is 2^30 bytes and GB is 10^9 bytes; write the unit in full");
}

Result<std::uint64_t> scale_fraction(std::string_view text, double number, std::uint64_t unit) {
  const double bytes = std::round(number * static_cast<double>(unit));
  if (!(bytes < 18446744073709551616.0)) return bad_size(text, "the size is too large");
  return static_cast<std::uint64_t>(bytes);
}

tl::unexpected<Error> bad_duration(std::string_view text) {
  return fail(ErrorKind::usage, "not a duration", fmt::format("'{}'", text), "a duration such as 90s, 10m, 1h or 500ms",
              "it must be between 1 ms and 365 days, with its unit");
}

std::optional<double> unit_milliseconds(std::string_view unit) {
  if (unit == "ms") return 1.0;
  if (unit == "s") return 1e3;
  if (unit == "m" || unit == "min") return 60e3;
  if (unit == "h") return 3600e3;
  return std::nullopt;
}

}  // namespace

Result<std::uint64_t> checked_add(std::uint64_t left, std::uint64_t right) {
  if (left > std::numeric_limits<std::uint64_t>::max() - right) {
    return fail(ErrorKind::bad_input, "a sum of sizes does not fit 64 bits", fmt::format("{} + {}", left, right));
  }
  return left + right;
}

Result<std::uint64_t> checked_multiply(std::uint64_t left, std::uint64_t right) {
  if (right != 0 && left > std::numeric_limits<std::uint64_t>::max() / right) {
    return fail(ErrorKind::bad_input, "a product of sizes does not fit 64 bits", fmt::format("{} x {}", left, right));
  }
  return left * right;
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto [number, unit_name] = split_amount(text);
  const auto unit = unit_bytes(unit_name);
  if (number.empty()) return bad_size(text, trim(text).starts_with('-') ? "a size is not negative" : "not a size");
  if (!unit && is_exponent(unit_name)) return bad_size(text, "a size has no exponent");
  if (!unit) return bad_size(text, "unknown or ambiguous unit of size");
  if (number.find('.') != std::string_view::npos) {
    const auto fraction = parse_whole<double>(number);
    return fraction ? scale_fraction(text, *fraction, *unit) : bad_size(text, "not a size");
  }
  const auto whole = parse_whole<std::uint64_t>(number);
  if (!whole && number.find_first_not_of("0123456789") == std::string_view::npos && !number.empty()) {
    return bad_size(text, "the size is too large");
  }
  if (!whole) return bad_size(text, "not a size");
  const auto bytes = checked_multiply(*whole, *unit);
  return bytes ? bytes : bad_size(text, "the size is too large");
}

bool has_lost_its_unit(std::string_view text) {
  const auto bytes = parse_size(text);
  return bytes && *bytes > 0 && *bytes < mib && split_amount(text).unit.empty();
}

std::string units_for(std::string_view number) {
  return fmt::format("{0}GiB (2^30 bytes each) or {0}GB (10^9)", trim(number));
}

std::string format_bytes(std::uint64_t bytes) {
  for (const Unit& unit : binary_units) {
    if (bytes >= unit.bytes)
      return fmt::format("{:.2f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.name);
  }
  return fmt::format("{} B", bytes);
}

std::string format_signed_bytes(std::int64_t bytes) {
  if (bytes >= 0) return format_bytes(static_cast<std::uint64_t>(bytes));
  return "-" + format_bytes(~static_cast<std::uint64_t>(bytes) + 1);
}

std::string format_exact_bytes(std::uint64_t bytes) {
  for (const Unit& unit : binary_units) {
    if (bytes != 0 && bytes % unit.bytes == 0) return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  }
  return fmt::format("{}B", bytes);
}

Result<double> parse_percent(std::string_view text) {
  const auto [number, unit] = split_amount(text);
  const auto value = parse_whole<double>(number);
  const double fraction = value ? (unit == "%" ? *value / 100 : *value) : -1;
  if ((!unit.empty() && unit != "%") || !(fraction >= 0 && fraction <= 1)) {
    return fail(ErrorKind::usage, "not a share", fmt::format("'{}'", text),
                "a percentage such as 15%, or a fraction such as 0.15");
  }
  return fraction;
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto [number, unit] = split_amount(text);
  const auto value = parse_whole<double>(number);
  const auto scale = unit_milliseconds(unit);
  if (!value || !scale) return bad_duration(text);
  const double milliseconds = std::round(*value * *scale);
  if (!(milliseconds >= 1 && milliseconds <= 365.0 * 24 * 3600e3)) return bad_duration(text);
  return std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds));
}

}  // namespace ullage
