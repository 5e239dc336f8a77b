// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/run_result.hpp"

#include <string>

namespace ullage::report {

/// The result as JSON: the shape that docs/result.md and docs/schemas/result.json describe. What is not known is
/// absent.
[[nodiscard]] std::string result_json(const RunResult& result);

}  // namespace ullage::report
