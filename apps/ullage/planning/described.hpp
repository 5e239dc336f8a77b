// SPDX-License-Identifier: Apache-2.0
// The model that a plan is of.
#pragma once

#include "apps/ullage/planning/options.hpp"
#include "model/description.hpp"
#include "model/source.hpp"

#include <string>

namespace ullage::cli {

/// A model and where it is from, for people.
struct Described {
  model::Model model;
  std::string origin;
  model::Source source;  ///< empty for a bare number of parameters
};

/// Finds and reads the configuration, or makes one of the sizes. Errors: those of the search and of the configuration;
/// `usage` where sizes of the command line are not what the family allows.
[[nodiscard]] Result<Described> described(const PlanOptions& options);

/// The same model with so many layers. Errors: as above.
[[nodiscard]] Result<model::Model> with_layers(const PlanOptions& options, const Described& found,
                                               std::uint64_t layers);

/// The same for sequences of so many tokens: a model that the sizes make has positions for them. Errors: as above.
[[nodiscard]] Result<model::Model> with_sequence(const PlanOptions& options, const Described& found,
                                                 std::uint64_t sequence);

}  // namespace ullage::cli
