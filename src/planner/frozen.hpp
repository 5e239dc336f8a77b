// SPDX-License-Identifier: Apache-2.0
// Which parameters `--freeze PATTERN` takes out of the training.
#pragma once

#include "base/result.hpp"
#include "model/description.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ullage::planner {

/// True when `pattern` is `text`; `*` stands for any characters, dots included, and `?` for one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

/// For every parameter of for_each_parameter whether it is frozen. A shared storage is frozen when any of its names is
/// matched. Errors: `usage` for a pattern that matches nothing.
[[nodiscard]] Result<std::vector<bool>> frozen_parameters(const model::Model& model,
                                                          const std::vector<std::string>& patterns);

}  // namespace ullage::planner
