// SPDX-License-Identifier: Apache-2.0
// JSON text that somebody else may have written.
#pragma once

#include "base/result.hpp"

#include <rapidjson/document.h>

#include <string>
#include <string_view>

namespace ullage::store {

/// An object, nested no deeper than a recursion may go. Errors: `bad_input`, with `where` and the byte.
[[nodiscard]] Result<rapidjson::Document> parse_object(std::string_view text, const std::string& where);

}  // namespace ullage::store
