// SPDX-License-Identifier: Apache-2.0
// Whether a line of an exported history is what docs/schemas/store_line.schema.json and result.schema.json say.
#pragma once

#include "base/result.hpp"
#include "store/json_value.hpp"

namespace ullage::store {

/// Checks a result, such as run.json holds: as check_line.
[[nodiscard]] Result<void> check_result(const Json& result);

/// Checks the version, and every value that the store or a view takes from a run. Errors: `bad_input` naming the field,
/// what it is and what it must be.
[[nodiscard]] Result<void> check_line(const Json& line);

}  // namespace ullage::store
