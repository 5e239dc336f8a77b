// SPDX-License-Identifier: Apache-2.0
// The model that a plan is of.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "model/description.hpp"

#include <string>

namespace ullage::cli {

/// A model and where it is from, for people.
struct Described {
  model::Model model;
  std::string origin;
};

/// Finds and reads the configuration, or makes one of the sizes. Errors: those of the search and of the configuration;
/// `usage` where sizes of the command line are not what the family allows.
[[nodiscard]] Result<Described> described(const PlanOptions& options);

}  // namespace ullage::cli
