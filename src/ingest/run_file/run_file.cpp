// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_file/run_file.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace ullage::ingest {
namespace {

constexpr const char* allowed = "YAML or JSON: a map from names to values";

std::string at(const std::string& where, const YAML::Mark& mark) {
  return mark.is_null() ? where : where + ", line " + std::to_string(mark.line + 1);
}

/// Takes no notice of what a document holds.
class Nothing : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Something follows the first document. YAML::LoadAll would tell too, and never ends where the parser stands still.
bool holds_several(std::string_view text) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  Nothing nothing;
  return parser.HandleNextDocument(nothing) && parser.HandleNextDocument(nothing);
}

Setting setting_of(const std::string& key, const YAML::Node& value, std::size_t line) {
  Setting setting{key, {}, value.IsSequence(), false, line};
  if (value.IsScalar()) {
    setting.values.push_back(value.Scalar());
  } else if (value.IsSequence() &&
             std::all_of(value.begin(), value.end(), [](const YAML::Node& item) { return item.IsScalar(); })) {
    for (const YAML::Node& item : value) setting.values.push_back(item.Scalar());
  } else {
    setting.nested = !value.IsNull();
  }
  return setting;
}

Result<std::vector<Setting>> settings_of(const YAML::Node& root, const std::string& where) {
  if (!root.IsMap()) return fail(ErrorKind::bad_input, "not a map of settings", where, allowed);
  std::vector<Setting> settings;
  std::set<std::string> seen;
  for (const auto& entry : root) {
    if (!entry.first.IsScalar())
      return fail(ErrorKind::bad_input, "a name that is no text", at(where, entry.first.Mark()), allowed);
    const std::string& key = entry.first.Scalar();
    if (!seen.insert(key).second)
      return fail(ErrorKind::bad_input, "the setting is there twice", at(where, entry.first.Mark()), "one of them");
    settings.push_back(setting_of(key, entry.second, static_cast<std::size_t>(entry.first.Mark().line + 1)));
  }
  return settings;
}

}  // namespace

std::optional<bool> truth_of(std::string_view text) {
  for (const char* spelled : {"true", "True", "TRUE"})
    if (text == spelled) return true;
  for (const char* spelled : {"false", "False", "FALSE"})
    if (text == spelled) return false;
  return std::nullopt;
}

Result<std::vector<Setting>> read_run_file(std::string_view text, const std::string& where) {
  if (text.size() > most_run_file_bytes)
    return fail(ErrorKind::bad_input, "too large for a file of settings", where, "at most 1 MiB");
  try {
    if (holds_several(text)) return fail(ErrorKind::bad_input, "more than one document", where, "one map of settings");
    return settings_of(YAML::Load(std::string(text)), where);
  } catch (const YAML::Exception& exception) {
    return fail(ErrorKind::bad_input, "not YAML: " + exception.msg, at(where, exception.mark), allowed);
  }
}

}  // namespace ullage::ingest
