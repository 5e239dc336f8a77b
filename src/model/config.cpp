// SPDX-License-Identifier: Apache-2.0
#include "model/config.hpp"

#include "base/text.hpp"
#include "model/file.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <map>
#include <set>

namespace ullage::model {
namespace {

constexpr std::int64_t most_size = 2147483647;
/// Python's json module takes NaN and Infinity; nesting must not cost stack.
constexpr unsigned parse_flags =
    rapidjson::kParseNanAndInfFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

bool is_a(const rapidjson::Value& value, FieldType type) {
  switch (type) {
    case FieldType::whole:
      return value.IsInt64() || value.IsUint64();
    case FieldType::number:
      return value.IsNumber();
    case FieldType::boolean:
      return value.IsBool();
    case FieldType::text:
      return value.IsString();
    case FieldType::list:
      return value.IsArray();
    case FieldType::object:
      return value.IsObject();
  }
  return false;
}

std::string_view name_of(FieldType type) {
  constexpr std::string_view names[] = {"a whole number", "a number", "true or false", "a text", "a list", "an object"};
  return names[static_cast<std::size_t>(type)];
}

/// The value as an error may show it: short, on one line.
std::string shown(const rapidjson::Value& value) {
  if (value.IsNull()) return "null";
  if (value.IsBool()) return value.GetBool() ? "true" : "false";
  if (value.IsInt64()) return std::to_string(value.GetInt64());
  if (value.IsUint64()) return std::to_string(value.GetUint64());
  if (value.IsNumber()) return fmt::format("{}", value.GetDouble());
  if (value.IsString()) return "'" + printable(std::string_view(value.GetString()).substr(0, 40), false) + "'";
  return value.IsArray() ? "a list" : "an object";
}

}  // namespace

struct Config::Implementation {
  std::shared_ptr<rapidjson::Document> document;
  const rapidjson::Value* object = nullptr;
  std::string where;
  std::map<std::string, std::string, std::less<>> aliases;  ///< field -> its other name
  std::set<std::string, std::less<>> read;
  std::optional<Error> error;
  std::vector<std::string> assumed;

  /// The last of equal names, as Python's json module has it.
  [[nodiscard]] const rapidjson::Value* last(std::string_view name) const {
    for (auto member = object->MemberEnd(); member != object->MemberBegin();) {
      --member;
      if (std::string_view(member->name.GetString(), member->name.GetStringLength()) == name) return &member->value;
    }
    return nullptr;
  }
  [[nodiscard]] const rapidjson::Value* find(std::string_view field) const {
    if (const auto other = aliases.find(field); other != aliases.end())
      if (const auto* value = last(other->second)) return value;
    return last(field);
  }
  const rapidjson::Value* take(std::string_view field) {
    read.emplace(field);
    if (const auto other = aliases.find(field); other != aliases.end()) read.emplace(other->second);
    return find(field);
  }
};

Config::Config(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Config::Config(Config&&) noexcept = default;
Config& Config::operator=(Config&&) noexcept = default;
Config::~Config() = default;

Result<Config> Config::parse(std::string_view json, std::string where) {
  if (json.size() > most_config_bytes)
    return fail(ErrorKind::bad_input, "too large for a model's configuration", where, "at most 4 MiB");
  auto made = std::make_unique<Implementation>();
  made->document = std::make_shared<rapidjson::Document>();
  made->document->Parse<parse_flags>(json.data(), json.size());
  if (made->document->HasParseError())
    return fail(ErrorKind::bad_input, fmt::format("not JSON: {}", GetParseError_En(made->document->GetParseError())),
                fmt::format("{}, byte {}", where, made->document->GetErrorOffset()),
                "a config.json of the Hugging Face hub");
  if (!made->document->IsObject())
    return fail(ErrorKind::bad_input, "not a JSON object", where, "a config.json of the Hugging Face hub");
  made->object = made->document.get();
  made->where = std::move(where);
  return Config(std::move(made));
}

void Config::replace(std::string_view field, std::uint64_t size) {
  drop(field);
  rapidjson::Document& document = *implementation_->document;
  document.AddMember({field.data(), static_cast<rapidjson::SizeType>(field.size()), document.GetAllocator()},
                     rapidjson::Value(size), document.GetAllocator());
}

void Config::drop(std::string_view field) {
  const rapidjson::Value name(rapidjson::StringRef(field.data(), field.size()));
  while (implementation_->document->RemoveMember(name)) {
  }
}

void Config::refuse(std::string_view field, std::string what, std::string allowed, std::string hint) {
  if (implementation_->error) return;
  implementation_->error = Error{ErrorKind::bad_input, fmt::format("{}: {}", field, std::move(what)),
                                 implementation_->where, std::move(allowed), std::move(hint)};
}

void Config::adopt(const Config& inner, std::string_view field) {
  if (implementation_->error || !inner.error()) return;
  implementation_->error = inner.error();
  implementation_->error->what = fmt::format("{}.{}", field, implementation_->error->what);
}

void Config::assume(std::string_view field, std::string value) {
  implementation_->assumed.push_back(fmt::format("{} = {}", field, value));
}

std::uint64_t Config::size(std::string_view field, std::uint64_t fallback, std::uint64_t least) {
  const auto* value = implementation_->take(field);
  if (value == nullptr) {
    assume(field, std::to_string(fallback));
    return fallback;
  }
  const std::string allowed = fmt::format("a whole number from {} to {}", least, most_size);
  const bool whole = value->IsInt64();
  if (whole && value->GetInt64() >= static_cast<std::int64_t>(least) && value->GetInt64() <= most_size)
    return static_cast<std::uint64_t>(value->GetInt64());
  refuse(field, shown(*value) + " is not a size", allowed);
  return fallback;
}

std::uint64_t Config::size_or(std::string_view field, std::uint64_t derived, std::string_view because,
                              std::uint64_t least) {
  const auto* value = implementation_->find(field);
  if (value != nullptr && !value->IsNull()) return size(field, derived, least);
  implementation_->take(field);
  assume(field, fmt::format("{} ({})", derived, because));
  return derived;
}

bool Config::flag(std::string_view field, bool fallback) {
  const auto* value = implementation_->take(field);
  if (value == nullptr) assume(field, fallback ? "true" : "false");
  if (value == nullptr) return fallback;
  if (!value->IsBool()) refuse(field, shown(*value) + " is not a flag", "true or false");
  return value->IsBool() ? value->GetBool() : fallback;
}

double Config::number(std::string_view field, double fallback) {
  const auto* value = implementation_->take(field);
  if (value == nullptr) return fallback;
  if (!value->IsNumber()) refuse(field, shown(*value) + " is not a number", "a number");
  return value->IsNumber() ? value->GetDouble() : fallback;
}

std::optional<std::int64_t> Config::whole(std::string_view field) {
  const auto* value = implementation_->take(field);
  if (value == nullptr || value->IsNull()) return std::nullopt;
  if (value->IsInt64()) return value->GetInt64();
  refuse(field, shown(*value) + " is not a whole number", "a whole number, or null");
  return std::nullopt;
}

std::optional<std::string> Config::text(std::string_view field) {
  const auto* value = implementation_->take(field);
  if (value == nullptr || value->IsNull()) return std::nullopt;
  if (value->IsString()) return std::string(value->GetString(), value->GetStringLength());
  refuse(field, shown(*value) + " is not a text", "a text");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Config::texts(std::string_view field) {
  const auto* value = implementation_->take(field);
  if (value == nullptr || value->IsNull()) return std::nullopt;
  std::vector<std::string> result;
  const bool good =
      value->IsArray() && std::all_of(value->Begin(), value->End(), [](const auto& item) { return item.IsString(); });
  if (!good) {
    refuse(field, shown(*value) + " is not a list of texts", "a list of texts");
    return std::nullopt;
  }
  for (const auto& item : value->GetArray()) result.emplace_back(item.GetString(), item.GetStringLength());
  return result;
}

std::optional<std::size_t> Config::length(std::string_view field) {
  const auto* value = implementation_->take(field);
  if (value == nullptr || value->IsNull()) return std::nullopt;
  if (value->IsArray()) return value->Size();
  refuse(field, shown(*value) + " is not a list", "a list");
  return std::nullopt;
}

std::optional<Config> Config::object(std::string_view field) {
  const auto* value = implementation_->take(field);
  if (value == nullptr || value->IsNull()) return std::nullopt;
  if (!value->IsObject()) {
    refuse(field, shown(*value) + " is not an object", "an object, or null");
    return std::nullopt;
  }
  auto made = std::make_unique<Implementation>();
  made->document = implementation_->document;
  made->object = value;
  made->where = implementation_->where;
  return Config(std::move(made));
}

bool Config::has(std::string_view field) const {
  return implementation_->find(field) != nullptr;
}

bool Config::is_null(std::string_view field) const {
  const auto* value = implementation_->find(field);
  return value != nullptr && value->IsNull();
}

std::optional<std::string> Config::peek_text(std::string_view field) const {
  const auto* value = implementation_->find(field);
  if (value == nullptr || !value->IsString()) return std::nullopt;
  return std::string(value->GetString(), value->GetStringLength());
}

void Config::alias(std::string_view name, std::string_view field) {
  implementation_->aliases.emplace(field, name);
}

void Config::check_type(std::string_view field, std::initializer_list<FieldType> allowed) {
  const auto* value = implementation_->find(field);
  if (value == nullptr || value->IsNull()) return;
  if (std::any_of(allowed.begin(), allowed.end(), [&](FieldType type) { return is_a(*value, type); })) return;
  std::string names;
  for (const FieldType type : allowed) names += (names.empty() ? "" : ", or ") + std::string(name_of(type));
  refuse(field, shown(*value) + " is of the wrong type", names);
}

const std::optional<Error>& Config::error() const {
  return implementation_->error;
}

const std::vector<std::string>& Config::assumed() const {
  return implementation_->assumed;
}

std::vector<std::string> Config::ignored() const {
  std::vector<std::string> names;
  for (const auto& member : implementation_->object->GetObject()) {
    const std::string name(member.name.GetString(), member.name.GetStringLength());
    if (!implementation_->read.contains(name)) names.push_back(name);
  }
  return names;
}

const std::string& Config::where() const {
  return implementation_->where;
}

}  // namespace ullage::model
