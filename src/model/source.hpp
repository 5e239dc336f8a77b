// SPDX-License-Identifier: Apache-2.0
// Where a model's configuration is: a path, the catalogue, the hub's cache on this machine, or the hub.
#pragma once

#include "base/result.hpp"

#include <string>

namespace ullage::model {

/// A configuration that was found.
struct Source {
  std::string json;
  std::string where;   ///< for errors: a path, or a name
  std::string origin;  ///< for people: "catalogue: published sizes of meta-llama/Llama-3.1-8B ..."
};

/// Looks for `name` in this order: a config.json, or a folder with one (`-` is stdin); the catalogue. Errors: `usage`
/// with the nearest names of the catalogue; `io`.
[[nodiscard]] Result<Source> find_source(const std::string& name);

}  // namespace ullage::model
