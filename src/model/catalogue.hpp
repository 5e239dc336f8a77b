// SPDX-License-Identifier: Apache-2.0
// Well-known models: their configurations by short name or hub id. Data compiled in from catalogue.json; nothing is
// read at run time, so that gated models can be planned offline.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ullage::model {

struct CatalogueEntry {
  std::string_view short_name;                ///< as on the command line: llama-3.1-8b
  std::span<const std::string_view> hub_ids;  ///< ORG/NAME, every repository with this configuration
  std::uint64_t parameters;                   ///< the published count, which the description must give
  std::string_view source;                    ///< where the values are from
  std::string_view config;                    ///< config.json: the fields that decide parameters and buffers
};

/// All entries, family by family.
[[nodiscard]] std::span<const CatalogueEntry> catalogue();

/// The entry of that short name or hub id; case is ignored. Null when there is none.
[[nodiscard]] const CatalogueEntry* find_in_catalogue(std::string_view name);

/// `did you mean 'llama-3.1-8b'?`, or where to look, for a name that is not in the catalogue. Never empty.
[[nodiscard]] std::string catalogue_suggestion(std::string_view name);

}  // namespace ullage::model
