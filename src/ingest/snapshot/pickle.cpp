// SPDX-License-Identifier: Apache-2.0
#include "ingest/snapshot/pickle.hpp"

#include <algorithm>
#include <bit>

namespace ullage::pickle {

void Arena::grow(std::size_t count) {
  constexpr std::size_t largest_chunk = std::size_t{1} << 20;
  const std::size_t values = std::max(count, chunk_values_);
  chunk_values_ = std::min(chunk_values_ * 2, largest_chunk);
  chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(values * sizeof(Value)));
  next_ = reinterpret_cast<Value*>(chunks_.back().get());
  left_ = values;
}

// Integers: bit 0 of the payload says whether the rest is the number itself (signed, 59 bits) or an index into wide_,
// whose top bit of meaning is given by bit 1 (1: unsigned).
std::optional<std::int64_t> Document::to_signed(Value value) const {
  if (value.kind() == Kind::boolean) return static_cast<std::int64_t>(value.bits_ >> 4);
  if (value.kind() != Kind::integer) return std::nullopt;
  if ((value.bits_ & 16) == 0) return static_cast<std::int64_t>(value.bits_) >> 5;
  const bool is_unsigned = (value.bits_ & 32) != 0;
  const std::uint64_t wide = wide_[value.bits_ >> 6];
  if (is_unsigned && wide >> 63 != 0) return std::nullopt;
  return static_cast<std::int64_t>(wide);
}

std::optional<std::uint64_t> Document::to_unsigned(Value value) const {
  if (value.kind() == Kind::integer && (value.bits_ & 48) == 48) return wide_[value.bits_ >> 6];
  const auto number = to_signed(value);
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::optional<double> Document::to_real(Value value) const {
  if (value.kind() == Kind::real) return std::bit_cast<double>(wide_[value.identity()]);
  const auto number = to_signed(value);
  return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
}

std::optional<bool> Document::to_boolean(Value value) const {
  if (value.kind() == Kind::boolean) return value.identity() != 0;
  if (value.kind() != Kind::integer) return std::nullopt;
  return to_signed(value) != 0;
}

std::string_view Document::text(Value value) const {
  if (value.kind() != Kind::text) return {};
  const Text& text = texts_[value.identity()];
  return {reinterpret_cast<const char*>(input_.data()) + text.offset, static_cast<std::size_t>(text.length)};
}

std::span<const Value> Document::slice(Value value) const {
  const Container& container = containers_[value.identity()];
  return {container.items, static_cast<std::size_t>(container.count)};
}

std::span<const Value> Document::items(Value value) const {
  if (value.kind() != Kind::list && value.kind() != Kind::tuple) return {};
  return slice(value);
}

std::span<const Value> Document::pairs(Value value) const {
  return value.kind() == Kind::dict ? slice(value) : std::span<const Value>{};
}

Value Document::get(Value dict, std::string_view key) const {
  const auto all = pairs(dict);
  for (std::size_t i = all.size(); i >= 2; i -= 2) {
    if (all[i - 2].kind() == Kind::text && text(all[i - 2]) == key) return all[i - 1];
  }
  return {};
}

}  // namespace ullage::pickle
