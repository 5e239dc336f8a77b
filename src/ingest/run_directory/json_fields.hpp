// SPDX-License-Identifier: Apache-2.0
// Internal to the run directory reader: takes typed values out of a JSON object; a missing key gives the default, a
// value of a wrong kind is counted.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ullage::ingest {

class JsonFields {
 public:
  JsonFields(const rapidjson::Value& object, std::uint64_t& bad_values) : object_(object), bad_(bad_values) {}

  /// Null for a missing key and for null.
  [[nodiscard]] const rapidjson::Value* find(const char* key) const;
  [[nodiscard]] std::string text(const char* key) const;
  [[nodiscard]] std::uint64_t count(const char* key) const;  ///< 0 .. 2^57
  [[nodiscard]] std::uint32_t small_count(const char* key) const;
  [[nodiscard]] std::int64_t integer(const char* key) const;
  [[nodiscard]] bool flag(const char* key) const;
  [[nodiscard]] const rapidjson::Value* list(const char* key) const;  ///< null when there is none

  /// The same of one value, which may be null.
  [[nodiscard]] std::string text_of(const rapidjson::Value& value) const;
  [[nodiscard]] std::uint64_t count_of(const rapidjson::Value& value) const;

 private:
  const rapidjson::Value& object_;
  std::uint64_t& bad_;
};

}  // namespace ullage::ingest
