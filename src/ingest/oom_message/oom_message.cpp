// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/oom_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.hpp"

namespace ullage::ingest {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
  const char* name;
  const char* printed;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 10> units = {{{"bytes", "bytes", 1},
                                         {"byte", "bytes", 1},
                                         {"b", "bytes", 1},
                                         {"kib", "KiB", kib},
                                         {"mib", "MiB", mib},
                                         {"gib", "GiB", gib},
                                         {"tib", "TiB", tib},
                                         {"kb", "KB", kib},
                                         {"mb", "MB", mib},
                                         {"gb", "GB", gib}}};

std::int64_t difference(std::uint64_t left, std::uint64_t right) {
  return static_cast<std::int64_t>(left) - static_cast<std::int64_t>(right);
}

SizeInterval less(const PrintedSize& left, const PrintedSize& right) {
  return {difference(left.low, right.high), difference(left.high, right.low)};
}

SizeInterval less(const SizeInterval& left, const PrintedSize& right) {
  return {left.low - static_cast<std::int64_t>(right.high), left.high - static_cast<std::int64_t>(right.low)};
}

/// Memory is not negative: of a difference, only what is not. One that is all below 0 says that sizes contradict.
SizeInterval memory(const SizeInterval& difference) {
  return difference.high < 0 ? difference : SizeInterval{std::max<std::int64_t>(difference.low, 0), difference.high};
}

}  // namespace

const char* name_of(OomBackend backend) {
  constexpr const char* names[] = {"CUDA", "HIP", "XPU", "NPU", "MPS", "CPU", "other"};
  return names[static_cast<std::size_t>(backend)];
}

std::string printed_unit(const std::string& name) {
  const auto* unit = std::ranges::find(units, name, [](const Unit& u) { return std::string(u.name); });
  return unit == units.end() ? name : unit->printed;
}

std::optional<PrintedSize> printed_size(const std::string& number, const std::string& unit_name) {
  const auto* unit = std::ranges::find(units, unit_name, [](const Unit& u) { return std::string(u.name); });
  const auto point = number.find('.');
  std::string digits = number;
  if (point != std::string::npos) digits.erase(point, 1);
  if (unit == units.end() || digits.empty() || digits.size() > 17) return std::nullopt;
  Wide mantissa = 0, scale = 1;
  for (const char c : digits) mantissa = mantissa * 10 + static_cast<unsigned>(c - '0');
  for (std::size_t i = point; point != std::string::npos && i + 1 < number.size(); ++i) scale *= 10;
  const bool exact = unit->bytes == 1;
  if (exact && point != std::string::npos) return std::nullopt;
  const Wide twice = 2 * mantissa, half = exact ? 0 : 1;
  const Wide high = (twice + half) * unit->bytes / (2 * scale);
  const Wide low = twice < half ? 0 : ((twice - half) * unit->bytes + 2 * scale - 1) / (2 * scale);
  if (high > Wide{1} << 58) return std::nullopt;  // PyTorch refuses requests over 2^57; sums of these stay in 64 bits
  PrintedSize size;
  size.printed = fmt::format("{} {}", number, unit->printed);
  size.bytes = static_cast<std::uint64_t>((twice * unit->bytes + scale) / (2 * scale));
  // With more digits than bytes no whole number lies between: the nearest one is the interval.
  size.low = std::min(static_cast<std::uint64_t>(low), size.bytes);
  size.high = std::max(static_cast<std::uint64_t>(high), size.bytes);
  return size;
}

std::optional<PrintedSize> OomMessage::reserved() const {
  if (reserved_total) return reserved_total;
  if (!allocated || !unallocated) return std::nullopt;
  return PrintedSize{allocated->printed + " + " + unallocated->printed, allocated->bytes + unallocated->bytes,
                     allocated->low + unallocated->low, allocated->high + unallocated->high};
}

std::optional<SizeInterval> OomMessage::outside_pytorch() const {
  const auto held = reserved();
  if (!capacity || !free || !held) return std::nullopt;
  return memory(less(less(*capacity, *free), *held));
}

std::optional<SizeInterval> OomMessage::own_outside_pytorch() const {
  const auto held = reserved();
  if (!in_use || !held) return std::nullopt;
  return memory(less(*in_use, *held));
}

std::optional<SizeInterval> OomMessage::other_processes() const {
  if (!capacity || !free || !in_use) return std::nullopt;
  return memory(less(less(*capacity, *free), *in_use));
}

}  // namespace ullage::ingest
