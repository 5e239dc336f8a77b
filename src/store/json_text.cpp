// SPDX-License-Identifier: Apache-2.0
#include "store/json_text.hpp"

#include "base/json_numbers.hpp"

#include <rapidjson/error/en.h>

#include <fmt/format.h>

namespace ullage::store {
namespace {

constexpr std::size_t deepest = 256;

/// Where the text opens more arrays and objects than that; npos when it does not.
std::size_t too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\')
      ++i;
    else if (c == '"')
      in_text = !in_text;
    else if (!in_text && (c == '[' || c == '{') && ++depth > deepest)
      return i;
    else if (!in_text && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return text.npos;
}

tl::unexpected<Error> damaged(std::string what, const std::string& where, std::size_t byte, std::string expected) {
  return fail(ErrorKind::bad_input, std::move(what), fmt::format("{}, byte {}", where, byte), std::move(expected));
}

}  // namespace

Result<rapidjson::Document> parse_object(std::string_view text, const std::string& where) {
  if (const std::size_t at = too_deep(text); at != text.npos)
    return damaged("JSON is nested too deep", where, at, fmt::format("at most {} levels", deepest));
  rapidjson::Document document;
  parse_exactly<rapidjson::kParseFullPrecisionFlag>(document, text);
  if (document.HasParseError())
    return damaged(std::string("damaged JSON: ") + rapidjson::GetParseError_En(document.GetParseError()), where,
                   document.GetErrorOffset(), "a JSON object");
  if (!document.IsObject()) return damaged("this is not what it should be", where, 0, "a JSON object");
  return document;
}

}  // namespace ullage::store
