// SPDX-License-Identifier: Apache-2.0
// Numbers of JSON texts that come from anywhere.
#pragma once

#include <string_view>

namespace ullage {

/// True when a number is in the JSON text that RapidJSON's exact reader of numbers must not see: a zero with a power or
/// with many digits (0e80), which it normalises, and one with more digits than a double has, whose rounding overflows.
/// Nothing that writes doubles to be read back writes such numbers.
[[nodiscard]] bool has_inexact_number(std::string_view json);

/// Parses with the flag of exact numbers, except where the text has a number that must not be read so. The document is
/// one of RapidJSON, which this room does not know.
template <unsigned exact_flag, class Document>
void parse_exactly(Document& document, std::string_view json) {
  if (has_inexact_number(json))
    document.Parse(json.data(), json.size());
  else
    document.template Parse<exact_flag>(json.data(), json.size());
}

}  // namespace ullage
