// SPDX-License-Identifier: Apache-2.0
// Typed values out of JSON that somebody else may have written. What has a wrong kind is
// missing.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace ullage::store {

using Json = rapidjson::Value;

/// The value of a path of keys in nested objects; null when there is none.
template <class... Keys>
const Json* at(const Json* value, const char* key, Keys... rest) {
  if (value == nullptr || !value->IsObject()) return nullptr;
  const auto member = value->FindMember(key);
  const Json* found = member == value->MemberEnd() ? nullptr : &member->value;
  if constexpr (sizeof...(rest) == 0)
    return found;
  else
    return at(found, rest...);
}

inline std::string text_of(const Json* value) {
  return value != nullptr && value->IsString() ? std::string(value->GetString(), value->GetStringLength())
                                               : std::string();
}

/// 0 to 2^63 - 1, which a column of the store can hold.
inline std::optional<std::uint64_t> count_of(const Json* value) {
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  if (value == nullptr || !value->IsUint64() || value->GetUint64() > largest) return std::nullopt;
  return value->GetUint64();
}

inline std::uint64_t count_or_0(const Json* value) {
  return count_of(value).value_or(0);
}

inline std::uint32_t ordinal_of(const Json* value) {
  return value != nullptr && value->IsUint() ? value->GetUint() : 0;
}

/// The items of a list; none of anything else.
inline rapidjson::Value::ConstArray items_of(const Json* value) {
  static const Json none(rapidjson::kArrayType);
  return value != nullptr && value->IsArray() ? value->GetArray() : none.GetArray();
}

}  // namespace ullage::store
