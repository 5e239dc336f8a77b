// SPDX-License-Identifier: Apache-2.0
// A store as JSON lines: what `ullage store export` writes and `import` reads, a run a line.
#pragma once

#include "base/result.hpp"
#include "store/record.hpp"

#include <string>
#include <string_view>

namespace ullage::store {

/// One line, with its line feed: docs/schemas/store_line.schema.json. A run.json that is no JSON is left out.
[[nodiscard]] std::string line_of(const Source& source);

/// Errors: `bad_input`.
[[nodiscard]] Result<Source> source_of(std::string_view line);

}  // namespace ullage::store
