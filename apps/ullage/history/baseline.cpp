// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/checking.hpp"
#include "ingest/file/source.hpp"
#include "report/json/json_writer.hpp"
#include "store/json_text.hpp"
#include "store/json_value.hpp"

#include <algorithm>
#include <array>

namespace ullage::cli {
namespace {

using store::at;
using store::Json;
using store::SettingGroup;
using store::text_of;

constexpr std::array groups = {SettingGroup::script, SettingGroup::launcher, SettingGroup::environment,
                               SettingGroup::device};

rapidjson::Value::ConstObject fields_of(const Json* value) {
  static const Json none(rapidjson::kObjectType);
  return value != nullptr && value->IsObject() ? value->GetObject() : none.GetObject();
}

std::vector<store::Setting> settings_of(const Json* configuration) {
  std::vector<store::Setting> settings;
  for (const SettingGroup group : groups)
    for (const auto& field : fields_of(at(configuration, store::name_of(group))))
      settings.push_back(store::setting(group, text_of(&field.name), text_of(&field.value)));
  return settings;
}

Result<std::vector<store::MetricValue>> metrics_of(const Json* metrics, const std::string& path) {
  std::vector<store::MetricValue> values;
  for (const auto& field : fields_of(metrics)) {
    const auto id = store::find_metric(text_of(&field.name));
    if (!id) return tl::unexpected(id.error());
    if (!field.value.IsInt64())
      return fail(ErrorKind::bad_input, "a metric of the baseline is no whole number", path, {}, text_of(&field.name));
    values.push_back({*id, field.value.GetInt64()});
  }
  std::ranges::sort(values, {}, &store::MetricValue::metric);
  return values;
}

void write_settings(JsonWriter& json, const std::vector<store::Setting>& settings) {
  json.begin_object("configuration");
  for (const SettingGroup group : groups) {
    json.begin_object(store::name_of(group));
    for (const store::Setting& one : settings)
      if (one.group == group) json.field(one.key, std::string_view(one.text));
    json.end_object();
  }
  json.end_object();
}

}  // namespace

std::string baseline_json(const Baseline& baseline) {
  JsonWriter json;
  json.begin_object();
  json.field("schema_version", 1);
  json.begin_object("of");
  json.field("name", std::string_view(baseline.name));
  json.field("script", std::string_view(baseline.script));
  json.field("gpu", std::string_view(baseline.gpu));
  json.field("torch", std::string_view(baseline.torch));
  json.end_object();
  write_settings(json, baseline.settings);
  json.begin_object("metrics");
  for (const auto& [id, value] : baseline.metrics) json.field(store::metrics()[id].name, value);
  json.end_object();
  json.begin_object("ledger");
  for (const auto& [id, bytes] : baseline.ledger)
    if (bytes > 0) json.field(id, bytes);
  json.end_object();
  json.end_object();
  return json.text();
}

Result<Baseline> read_baseline(const std::string& path) {
  auto source = ingest::Source::open_once(path);
  if (!source) return tl::unexpected(source.error());
  const auto bytes = source->rest();
  const auto json = store::parse_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
  if (!json) return tl::unexpected(json.error());
  const Json* metrics = at(&*json, "metrics");
  if (metrics == nullptr || !metrics->IsObject())
    return fail(ErrorKind::bad_input, "this is no baseline", path, "what 'ullage check --update' writes");
  const auto values = metrics_of(metrics, path);
  if (!values) return tl::unexpected(values.error());
  Baseline baseline;
  baseline.name = text_of(at(&*json, "of", "name"));
  baseline.script = text_of(at(&*json, "of", "script"));
  baseline.gpu = text_of(at(&*json, "of", "gpu"));
  baseline.torch = text_of(at(&*json, "of", "torch"));
  baseline.settings = settings_of(at(&*json, "configuration"));
  baseline.metrics = *values;
  for (const auto& field : fields_of(at(&*json, "ledger")))
    baseline.ledger[text_of(&field.name)] = store::count_or_0(&field.value);
  return baseline;
}

}  // namespace ullage::cli
