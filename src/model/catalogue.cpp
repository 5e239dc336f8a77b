// SPDX-License-Identifier: Apache-2.0
#include "model/catalogue.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <vector>

namespace ullage::model {

const CatalogueEntry* find_in_catalogue(std::string_view name) {
  const auto is_named = [&](std::string_view known) { return equal_ignoring_case(known, name); };
  for (const CatalogueEntry& entry : catalogue())
    if (is_named(entry.short_name) || std::ranges::any_of(entry.hub_ids, is_named)) return &entry;
  return nullptr;
}

std::string catalogue_suggestion(std::string_view name) {
  std::vector<std::string_view> short_names, all_names;
  for (const CatalogueEntry& entry : catalogue()) {
    short_names.push_back(entry.short_name);
    all_names.insert(all_names.end(), entry.hub_ids.begin(), entry.hub_ids.end());
  }
  const bool short_name = name.find('/') == std::string_view::npos;
  const std::string near = suggestion(name, short_name ? short_names : all_names, 4);
  return near.empty() ? "'ullage models' lists the catalogue" : near;
}

}  // namespace ullage::model
