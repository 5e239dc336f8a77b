// SPDX-License-Identifier: Apache-2.0
#include "report/json/show_view.hpp"

#include "base/json_numbers.hpp"
#include "base/text.hpp"

#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

namespace ullage::report {
namespace {

using Json = rapidjson::Value;
using Allocator = rapidjson::Document::AllocatorType;

Json text(std::string_view value, Allocator& memory) {
  return {value.data(), static_cast<rapidjson::SizeType>(value.size()), memory};
}

void add(Json& object, const char* name, Json value, Allocator& memory) {
  object.RemoveMember(name);
  object.AddMember(rapidjson::StringRef(name), value, memory);
}

Json identity_of(const ShowView& view, Allocator& memory) {
  Json history(rapidjson::kObjectType);
  add(history, "id", text(view.id, memory), memory);
  add(history, "name", text(view.name, memory), memory);
  add(history, "kind", text(view.kind, memory), memory);
  add(history, "started", text(view.started, memory), memory);
  add(history, "directory", text(view.directory, memory), memory);
  return history;
}

Json configuration_of(const ShowView& view, Allocator& memory) {
  Json list(rapidjson::kArrayType);
  for (const ShownSetting& one : view.configuration) {
    Json item(rapidjson::kObjectType);
    add(item, "from", text(one.source, memory), memory);
    add(item, "key", text(one.key, memory), memory);
    add(item, "type", text(one.type, memory), memory);
    add(item, "value", text(one.text, memory), memory);
    if (one.number) add(item, "number", Json(*one.number), memory);
    list.PushBack(item, memory);
  }
  return list;
}

}  // namespace

Result<std::string> show_json(const ShowView& view) {
  rapidjson::Document result;
  parse_exactly<rapidjson::kParseFullPrecisionFlag>(result, view.run_json);
  if (result.HasParseError() || !result.IsObject())
    return fail(ErrorKind::bad_input, "the result of this run is damaged", view.directory);
  auto& memory = result.GetAllocator();
  add(result, "command", text("show", memory), memory);
  add(result, "history", identity_of(view, memory), memory);
  add(result, "configuration", configuration_of(view, memory), memory);
  Json metrics(rapidjson::kObjectType);
  for (const auto& [name, value] : view.metrics) metrics.AddMember(text(name, memory), Json(value), memory);
  add(result, "metrics", std::move(metrics), memory);
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
  writer.SetIndent(' ', 2);
  result.Accept(writer);
  return escaped_controls({buffer.GetString(), buffer.GetSize()}) + "\n";
}

}  // namespace ullage::report
