// SPDX-License-Identifier: Apache-2.0
#include "store/json_lines.hpp"

#include "store/json_text.hpp"
#include "store/json_value.hpp"
#include "store/line_check.hpp"
#include "store/time.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace ullage::store {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void write(Writer& writer, const char* name, const std::string& value) {
  writer.Key(name);
  writer.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

}  // namespace

std::string line_of(const Source& source) {
  const auto result = parse_object(source.run_json, source.directory);
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  writer.StartObject();
  writer.Key("schema_version");
  writer.Int(1);
  write(writer, "id", source.id);
  write(writer, "directory", source.directory);
  write(writer, "changed", time_text(source.changed_ms));
  if (result) {
    writer.Key("result");
    result->Accept(writer);
  }
  writer.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

Result<Source> source_of(std::string_view line) {
  const auto document = parse_object(line, "the line");
  if (!document) return tl::unexpected(document.error());
  if (const auto checked = check_line(*document); !checked) return tl::unexpected(checked.error());
  Source source;
  source.id = text_of(at(&*document, "id"));
  source.directory = text_of(at(&*document, "directory"));
  source.changed_ms = parse_time(text_of(at(&*document, "changed")), false).value_or(0);
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  at(&*document, "result")->Accept(writer);
  source.run_json.assign(buffer.GetString(), buffer.GetSize());
  return source;
}

}  // namespace ullage::store
