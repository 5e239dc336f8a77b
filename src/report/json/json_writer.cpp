// SPDX-License-Identifier: Apache-2.0
#include "report/json/json_writer.hpp"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cmath>
#include <cstddef>

#include "base/text.hpp"

namespace ullage {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

}  // namespace

std::string clean_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    result += length == 0 ? replacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

struct JsonWriter::Implementation {
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer{buffer};

  void key(std::string_view name) { writer.Key(name.data(), static_cast<rapidjson::SizeType>(name.size())); }
  void string(std::string_view value) {
    const std::string clean = clean_utf8(value);
    writer.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
};

JsonWriter::JsonWriter() : implementation_(std::make_unique<Implementation>()) {
  implementation_->writer.SetIndent(' ', 2);
}

JsonWriter::~JsonWriter() = default;

void JsonWriter::begin_result(std::string_view command) {
  begin_object();
  field("schema_version", 1);
  field("command", command);
}

void JsonWriter::begin_object() {
  implementation_->writer.StartObject();
}

void JsonWriter::begin_object(std::string_view name) {
  implementation_->key(name);
  begin_object();
}

void JsonWriter::end_object() {
  implementation_->writer.EndObject();
}

void JsonWriter::begin_array() {
  implementation_->writer.StartArray();
}

void JsonWriter::begin_array(std::string_view name) {
  implementation_->key(name);
  begin_array();
}

void JsonWriter::end_array() {
  implementation_->writer.EndArray();
}

void JsonWriter::field(std::string_view name, std::string_view value) {
  implementation_->key(name);
  implementation_->string(value);
}

void JsonWriter::field(std::string_view name, bool value) {
  implementation_->key(name);
  implementation_->writer.Bool(value);
}

void JsonWriter::field(std::string_view name, double value) {
  if (!std::isfinite(value)) return;
  implementation_->key(name);
  implementation_->writer.Double(value);
}

void JsonWriter::field(std::string_view name, std::uint64_t value) {
  implementation_->key(name);
  implementation_->writer.Uint64(value);
}

void JsonWriter::field(std::string_view name, std::int64_t value) {
  implementation_->key(name);
  implementation_->writer.Int64(value);
}

void JsonWriter::number_field(std::string_view name, double value) {
  const bool whole = std::nearbyint(value) == value && std::abs(value) < 9007199254740992.0;
  if (whole) {
    field(name, static_cast<std::int64_t>(value));
  } else {
    field(name, value);
  }
}

void JsonWriter::item(std::string_view value) {
  implementation_->string(value);
}

void JsonWriter::item(std::uint64_t value) {
  implementation_->writer.Uint64(value);
}

void JsonWriter::item(std::int64_t value) {
  implementation_->writer.Int64(value);
}

std::string JsonWriter::text() const {
  return escaped_controls({implementation_->buffer.GetString(), implementation_->buffer.GetSize()}) + "\n";
}

}  // namespace ullage
