// SPDX-License-Identifier: Apache-2.0
#include "store/line_check.hpp"

#include "store/time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace ullage::store {
namespace {

enum class Kind : std::uint8_t { object, list, texts, text, filled_text, count, whole, number, boolean, time, commit };

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"an object",
                                   "a list",
                                   "a list of texts",
                                   "a text",
                                   "a text that is not empty",
                                   "a whole number from 0 to 2^63 - 1",
                                   "a whole number",
                                   "a number",
                                   "true or false",
                                   "a time such as 2026-11-30T15:15:47.123Z",
                                   "40 to 64 hexadecimal digits"};
  return names[static_cast<std::size_t>(kind)];
}

bool all_texts(const Json& value) {
  return value.IsArray() && std::ranges::all_of(value.GetArray(), [](const Json& item) { return item.IsString(); });
}

bool is_commit(std::string_view text) {
  return text.size() >= 40 && text.size() <= 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is(const Json& value, Kind kind) {
  switch (kind) {
    case Kind::object:
      return value.IsObject();
    case Kind::list:
      return value.IsArray();
    case Kind::texts:
      return all_texts(value);
    case Kind::text:
      return value.IsString();
    case Kind::filled_text:
      return value.IsString() && value.GetStringLength() > 0;
    case Kind::count:
      return count_of(&value).has_value();
    case Kind::whole:
      return value.IsInt();
    case Kind::number:
      return value.IsNumber();
    case Kind::boolean:
      return value.IsBool();
    case Kind::time:
      return parse_time(text_of(&value), false).has_value();
    case Kind::commit:
      return is_commit(text_of(&value));
  }
  return false;
}

std::string shown(const Json& value) {
  if (value.IsString()) return "a text";
  if (value.IsObject()) return "an object";
  if (value.IsArray()) return "a list";
  if (value.IsNumber()) return value.IsInt64() ? std::to_string(value.GetInt64()) : "a number out of range";
  return value.IsBool() ? "true or false" : "null";
}

struct Field {
  const char* key;
  Kind kind;
  bool required = false;
};

constexpr Field line_fields[] = {{"id", Kind::filled_text, true},
                                 {"directory", Kind::text, true},
                                 {"changed", Kind::time, true},
                                 {"result", Kind::object, true}};

constexpr Field result_fields[] = {{"stack", Kind::object, true},
                                   {"steps", Kind::count, true},
                                   {"phases", Kind::list, true},
                                   {"out_of_memory", Kind::list, true},
                                   {"findings", Kind::list, true},
                                   {"evidence", Kind::object, true},
                                   {"notes", Kind::texts, true},
                                   {"script", Kind::texts, true},
                                   {"run_directory", Kind::filled_text, true},
                                   {"script_exit_code", Kind::whole},
                                   {"device", Kind::object},
                                   {"peak", Kind::object},
                                   {"needed_bytes", Kind::count},
                                   {"needed_at_least_bytes", Kind::count},
                                   {"needed_reserved_bytes", Kind::count},
                                   {"missing_bytes", Kind::count},
                                   {"reserve_bytes", Kind::count},
                                   {"headroom", Kind::object},
                                   {"ledger", Kind::object},
                                   {"ledger_of", Kind::text},
                                   {"ledger_below_peak_bytes", Kind::count},
                                   {"ledger_unlimited", Kind::boolean},
                                   {"exception", Kind::object},
                                   {"run", Kind::object},
                                   {"recording", Kind::object},
                                   {"time", Kind::object},
                                   {"plan", Kind::object}};

constexpr Field device_fields[] = {
    {"name", Kind::filled_text, true}, {"short_name", Kind::text}, {"capacity_bytes", Kind::count, true}};
constexpr Field stack_fields[] = {{"torch", Kind::text}, {"cuda", Kind::text}, {"python", Kind::text}};
constexpr Field peak_fields[] = {{"allocated_bytes", Kind::count, true},
                                 {"reserved_bytes", Kind::count, true},
                                 {"requested_bytes", Kind::count},
                                 {"used_bytes", Kind::count},
                                 {"step", Kind::count},
                                 {"phase", Kind::text},
                                 {"where", Kind::text}};
constexpr Field headroom_fields[] = {{"bytes", Kind::count, true}, {"fraction", Kind::number, true}};
constexpr Field exception_fields[] = {{"type", Kind::text, true}, {"text", Kind::text, true}};
constexpr Field run_fields[] = {{"name", Kind::text},
                                {"started", Kind::time},
                                {"environment", Kind::object},
                                {"input_shapes", Kind::texts},
                                {"code", Kind::object}};
constexpr Field code_fields[] = {{"commit", Kind::commit, true}, {"dirty", Kind::boolean, true}};
constexpr Field time_fields[] = {
    {"seconds", Kind::number, true}, {"low", Kind::number, true}, {"high", Kind::number, true}};
constexpr Field phase_fields[] = {{"name", Kind::filled_text, true},
                                  {"step", Kind::count},
                                  {"micro_batch", Kind::count},
                                  {"allocated_bytes", Kind::count, true},
                                  {"reserved_bytes", Kind::count, true},
                                  {"peak_allocated_bytes", Kind::count, true},
                                  {"peak_reserved_bytes", Kind::count, true}};
constexpr Field oom_fields[] = {{"requested_bytes", Kind::count, true},
                                {"step", Kind::count},
                                {"phase", Kind::text},
                                {"module", Kind::text},
                                {"line", Kind::text},
                                {"caught", Kind::boolean}};
constexpr Field finding_fields[] = {
    {"id", Kind::filled_text, true}, {"level", Kind::text, true}, {"bytes", Kind::count}, {"title", Kind::text, true}};
constexpr Field ledger_fields[] = {{"id", Kind::filled_text, true},
                                   {"name", Kind::filled_text, true},
                                   {"bytes", Kind::count, true},
                                   {"children", Kind::list}};

tl::unexpected<Error> off(const std::string& where, const std::string& what, const std::string& expected) {
  return fail(ErrorKind::bad_input, where + " is " + what, {}, expected,
              "docs/schemas/store_line.schema.json has the shape");
}

Result<void> check_fields(const Json& value, std::span<const Field> fields, const std::string& where) {
  if (!value.IsObject()) return off(where, shown(value), "an object");
  for (const Field& field : fields) {
    const Json* found = at(&value, field.key);
    const std::string name = where.empty() ? field.key : where + "." + field.key;
    if (found == nullptr && field.required) return off(name, "missing", name_of(field.kind));
    if (found != nullptr && !is(*found, field.kind)) return off(name, shown(*found), name_of(field.kind));
  }
  return {};
}

Result<void> check_items(const Json* list, std::span<const Field> fields, const std::string& where) {
  for (rapidjson::SizeType i = 0; const Json& item : items_of(list))
    if (auto checked = check_fields(item, fields, fmt::format("{}[{}]", where, i++)); !checked) return checked;
  return {};
}

Result<void> check_ledger(const Json& line, const std::string& where) {
  if (auto checked = check_fields(line, ledger_fields, where); !checked) return checked;
  std::uint64_t sum = 0;
  const auto children = items_of(at(&line, "children"));
  for (const Json& child : children) {
    const std::string name = where + "." + text_of(at(&child, "id"));
    if (auto checked = check_ledger(child, name); !checked) return checked;
    sum += count_or_0(at(&child, "bytes"));  // two of the largest fit 64 bits; more are compared below
    if (sum > count_or_0(at(&line, "bytes"))) return off(where, "less than its children", "their sum");
  }
  if (!children.Empty() && sum != count_or_0(at(&line, "bytes")))
    return off(where, "more than its children", "their sum");
  return {};
}

bool names_bytes(std::string_view key) {
  return key == "bytes" || key.ends_with("_bytes");
}

/// A sum of bytes in any part of a result, those of a kept plan included, where estimates are no whole numbers.
bool may_be_bytes(const Json& value, std::string_view key) {
  if (value.IsObject()) return true;  // an interval
  if (!value.IsNumber()) return false;
  const double number = value.GetDouble();
  return number < 9223372036854775808.0 && (number >= 0 || key == "saved_bytes");
}

Result<void> check_bytes(const Json& value, const std::string& where) {
  if (value.IsArray()) {
    for (rapidjson::SizeType i = 0; i < value.Size(); ++i)
      if (auto checked = check_bytes(value[i], fmt::format("{}[{}]", where, i)); !checked) return checked;
  }
  if (!value.IsObject()) return {};
  for (const auto& [name, member] : value.GetObject()) {
    const std::string key = text_of(&name), path = where + "." + key;
    if (key == "environment") continue;  // names of somebody else
    if (names_bytes(key) && !may_be_bytes(member, key)) return off(path, shown(member), name_of(Kind::count));
    if (auto checked = check_bytes(member, path); !checked) return checked;
  }
  return {};
}

/// The plan of the same training that a run keeps.
Result<void> check_plan(const Json& result) {
  const Json* ledger = at(&result, "plan", "ledger");
  return ledger == nullptr ? Result<void>() : check_ledger(*ledger, "result.plan.ledger");
}

struct Part {
  const char* key;
  std::span<const Field> fields;
};

constexpr Part objects[] = {{"stack", stack_fields},       {"device", device_fields},       {"peak", peak_fields},
                            {"headroom", headroom_fields}, {"exception", exception_fields}, {"run", run_fields},
                            {"time", time_fields}};
constexpr Part lists[] = {{"phases", phase_fields}, {"out_of_memory", oom_fields}, {"findings", finding_fields}};

Result<void> check_name(const Json& result, const char* key, std::span<const std::string_view> names, bool required) {
  const Json* found = at(&result, key);
  if (found == nullptr && !required) return {};
  const std::string text = text_of(found);
  if (std::ranges::find(names, text) != names.end()) return {};
  std::string list;
  for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return off(std::string("result.") + key, text.empty() ? "missing" : "'" + text + "'", "one of " + list);
}

Result<void> check_version(const Json& value, const char* where) {
  const Json* version = at(&value, "schema_version");
  if (version != nullptr && version->IsInt() && version->GetInt() == 1) return {};
  const std::string name = std::string(where) + "schema_version";
  if (version == nullptr) return off(name, "missing", "1");
  return fail(ErrorKind::bad_input, name + " is " + shown(*version), {}, "1", "a newer Ullage wrote it: use that one");
}

}  // namespace

Result<void> check_result(const Json& result) {
  constexpr std::string_view commands[] = {"rehearse", "record"};
  constexpr std::string_view verdicts[] = {"fits", "tight", "oom", "failed", "timeout"};
  if (auto checked = check_version(result, "result."); !checked) return checked;
  if (auto checked = check_name(result, "command", commands, true); !checked) return checked;
  if (auto checked = check_name(result, "verdict", verdicts, false); !checked) return checked;
  if (auto checked = check_fields(result, result_fields, "result"); !checked) return checked;
  for (const Part& part : objects)
    if (const Json* found = at(&result, part.key))
      if (auto checked = check_fields(*found, part.fields, std::string("result.") + part.key); !checked) return checked;
  for (const Part& part : lists)
    if (auto checked = check_items(at(&result, part.key), part.fields, std::string("result.") + part.key); !checked)
      return checked;
  if (const Json* code = at(&result, "run", "code"))
    if (auto checked = check_fields(*code, code_fields, "result.run.code"); !checked) return checked;
  if (const Json* ledger = at(&result, "ledger"))
    if (auto checked = check_ledger(*ledger, "result.ledger"); !checked) return checked;
  if (auto checked = check_plan(result); !checked) return checked;
  return check_bytes(result, "result");
}

Result<void> check_line(const Json& line) {
  constexpr std::string_view known[] = {"schema_version", "id", "directory", "changed", "result"};
  if (auto checked = check_version(line, ""); !checked) return checked;
  if (auto checked = check_fields(line, line_fields, ""); !checked) return checked;
  for (const auto& member : line.GetObject())
    if (std::ranges::find(known, text_of(&member.name)) == std::end(known))
      return off("the field " + text_of(&member.name), "not known", "what 'ullage store export' writes");
  return check_result(*at(&line, "result"));
}

}  // namespace ullage::store
