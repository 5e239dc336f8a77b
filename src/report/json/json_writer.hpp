// SPDX-License-Identifier: Apache-2.0
// JsonWriter: the one place where JSON text is produced. The same calls give the same bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ullage {

/// Writes one JSON document, indented by two spaces. The calls must nest; a field goes into an object, an item into an
/// array. What is not known is left out, never written as null: a `field` that is not finite writes nothing. Bytes that
/// are not UTF-8 become U+FFFD.
class JsonWriter {
 public:
  JsonWriter();
  ~JsonWriter();
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  /// The document of a command's result, with the fields that every one has: schema_version and command.
  void begin_result(std::string_view command);
  void begin_object();                       ///< the document, or an item of an array
  void begin_object(std::string_view name);  ///< a field
  void end_object();
  void begin_array();
  void begin_array(std::string_view name);
  void end_array();

  void field(std::string_view name, std::string_view value);
  void field(std::string_view name, const char* value) { field(name, std::string_view(value)); }
  void field(std::string_view name, bool value);
  void field(std::string_view name, double value);
  void field(std::string_view name, std::uint64_t value);
  void field(std::string_view name, std::int64_t value);
  void field(std::string_view name, int value) { field(name, static_cast<std::int64_t>(value)); }
  void field(std::string_view name, unsigned value) { field(name, static_cast<std::uint64_t>(value)); }
  /// As a whole number where it is one (and below 2^53), so that bytes and counts held as double stay integers.
  void number_field(std::string_view name, double value);

  void item(std::string_view value);
  void item(std::uint64_t value);
  void item(std::int64_t value);

  /// The document with a line feed at its end. Call once everything is closed.
  [[nodiscard]] std::string text() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string clean_utf8(std::string_view text);

}  // namespace ullage
