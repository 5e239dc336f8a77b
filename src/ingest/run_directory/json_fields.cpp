// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/json_fields.hpp"

#include <limits>

#include "timeline/size_rules.hpp"

namespace ullage::ingest {

const rapidjson::Value* JsonFields::find(const char* key) const {
  const auto member = object_.FindMember(key);
  return member == object_.MemberEnd() || member->value.IsNull() ? nullptr : &member->value;
}

std::string JsonFields::text_of(const rapidjson::Value& value) const {
  if (value.IsString()) return {value.GetString(), value.GetStringLength()};
  bad_ += !value.IsNull();
  return {};
}

std::uint64_t JsonFields::count_of(const rapidjson::Value& value) const {
  if (value.IsUint64() && value.GetUint64() <= timeline::max_request_bytes) return value.GetUint64();
  bad_ += !value.IsNull();
  return 0;
}

std::string JsonFields::text(const char* key) const {
  const auto* value = find(key);
  return value == nullptr ? std::string() : text_of(*value);
}

std::uint64_t JsonFields::count(const char* key) const {
  const auto* value = find(key);
  return value == nullptr ? 0 : count_of(*value);
}

std::uint32_t JsonFields::small_count(const char* key) const {
  const std::uint64_t value = count(key);
  if (value <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(value);
  ++bad_;
  return 0;
}

std::int64_t JsonFields::integer(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) return 0;
  if (value->IsInt64()) return value->GetInt64();
  ++bad_;
  return 0;
}

bool JsonFields::flag(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr) return false;
  if (value->IsBool()) return value->GetBool();
  ++bad_;
  return false;
}

const rapidjson::Value* JsonFields::list(const char* key) const {
  const auto* value = find(key);
  if (value == nullptr || value->IsArray()) return value;
  ++bad_;
  return nullptr;
}

}  // namespace ullage::ingest
