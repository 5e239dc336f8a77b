// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/catalogue_view.hpp"

#include "base/text.hpp"
#include "model/families.hpp"
#include "report/json/json_writer.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

Result<model::Model> model_of(const model::CatalogueEntry& entry) {
  return model::describe(std::string(entry.config), std::string(entry.short_name));
}

/// 1.24 B, 124 M.
std::string short_count(std::uint64_t count) {
  const auto number = static_cast<double>(count);
  return number >= 1e9 ? fmt::format("{:.3g} B", number / 1e9) : fmt::format("{:.3g} M", number / 1e6);
}

void write_sizes(JsonWriter& json, const model::Network& network) {
  json.field("layers", network.layers);
  json.field("hidden", network.hidden);
  json.field("heads", network.heads);
  json.field("kv_heads", network.key_value_heads);
  json.field("vocabulary", network.vocabulary);
}

void write_model(JsonWriter& json, const model::CatalogueEntry& entry, const model::Model& model) {
  json.begin_object();
  json.field("name", entry.short_name);
  json.begin_array("hub_ids");
  for (const std::string_view id : entry.hub_ids) json.item(id);
  json.end_array();
  json.field("model_type", std::string_view(model.model_type));
  json.field("architecture", std::string_view(model.architecture));
  json.field("parameters", entry.parameters);
  write_sizes(json, model.network);
  json.field("source", entry.source);
  json.field("config", entry.config);
  json.end_object();
}

}  // namespace

Result<std::string> model_table(std::span<const model::CatalogueEntry> entries) {
  Table table({{"name"},
               {"family"},
               {"parameters", Align::right},
               {"layers", Align::right},
               {"hidden", Align::right},
               {"heads", Align::right},
               {"kv heads", Align::right},
               {"vocabulary", Align::right},
               {"id on the hub"}});
  for (const model::CatalogueEntry& entry : entries) {
    const auto model = model_of(entry);
    if (!model) return tl::unexpected(model.error());
    const model::Network& network = model->network;
    table.add({std::string(entry.short_name), model->model_type, short_count(entry.parameters),
               std::to_string(network.layers), std::to_string(network.hidden), std::to_string(network.heads),
               std::to_string(network.key_value_heads), std::to_string(network.vocabulary),
               std::string(entry.hub_ids.front())});
  }
  return table.text() +
         "\n'ullage plan NAME' plans one, 'ullage models NAME' shows its configuration and source. Any "
         "other model of these\nfamilies is planned from its config.json or its id on the hub.\n";
}

Result<std::string> model_details(const model::CatalogueEntry& entry) {
  return model_of(entry).map([&](const model::Model& model) {
    std::vector<std::string> ids;
    for (const std::string_view id : entry.hub_ids) ids.emplace_back(id);
    return fmt::format("{}: {}, {} parameters\n  on the hub: {}\n  source: {}\n{}\n", entry.short_name,
                       model.architecture, grouped(entry.parameters), join(ids, ", "), entry.source, entry.config);
  });
}

Result<std::string> models_json(std::span<const model::CatalogueEntry> entries) {
  JsonWriter json;
  json.begin_result("models");
  json.begin_array("models");
  for (const model::CatalogueEntry& entry : entries) {
    const auto model = model_of(entry);
    if (!model) return tl::unexpected(model.error());
    write_model(json, entry, *model);
  }
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace ullage::cli
