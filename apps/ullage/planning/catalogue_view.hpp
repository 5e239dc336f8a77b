// SPDX-License-Identifier: Apache-2.0
// Models of the catalogue as `ullage models` shows them.
#pragma once

#include "base/result.hpp"
#include "model/catalogue.hpp"

#include <span>
#include <string>

namespace ullage::cli {

/// A line for each model. Errors: none but a configuration of the catalogue that cannot be described.
[[nodiscard]] Result<std::string> model_table(std::span<const model::CatalogueEntry> entries);
/// One with its configuration, where that is from, and all its hub ids.
[[nodiscard]] Result<std::string> model_details(const model::CatalogueEntry& entry);
/// docs/schemas/models.schema.json.
[[nodiscard]] Result<std::string> models_json(std::span<const model::CatalogueEntry> entries);

}  // namespace ullage::cli
