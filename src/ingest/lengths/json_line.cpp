// SPDX-License-Identifier: Apache-2.0
#include "ingest/lengths/json_line.hpp"

#include <fmt/format.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <array>
#include <optional>

namespace ullage::ingest {
namespace {

struct Field {
  std::string_view name;
  bool list;  ///< its items count
};

constexpr std::array fields{Field{"length", false},      Field{"num_tokens", false}, Field{"n_tokens", false},
                            Field{"token_count", false}, Field{"input_ids", true},   Field{"tokens", true}};
constexpr std::size_t none = fields.size();

/// Counts without keeping: a line may have millions of token ids. Depth 1 is inside the object, or inside a bare list.
class Handler : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Handler> {
 public:
  bool Default() { return value({}); }
  bool Uint(unsigned number) { return value(number); }
  bool Uint64(std::uint64_t number) { return value(number); }
  bool Int(int number) { return value(number < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(number))); }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    if (depth_ != 1 || list_) return true;
    current_ = none;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i].name == std::string_view(text, size)) current_ = i;
    return current_ == none || !found_[current_] || refuse(fmt::format("'{}' is there twice", fields[current_].name));
  }

  bool StartObject() { return enter() || refuse("a list of objects, not of token ids"); }
  bool EndObject(rapidjson::SizeType) { return leave(); }

  bool StartArray() {
    if (depth_ == 0) list_ = true;
    const bool counted = depth_ == 1 && !list_ && current_ != none && fields[current_].list;
    if (!enter()) return refuse("a list of lists, not of token ids");
    inside_ = inside_ || counted;
    return true;
  }
  bool EndArray(rapidjson::SizeType items) {
    --depth_;
    if (depth_ == 0) bare_ = items;
    if (depth_ == 1 && inside_) {
      found_[current_] = items;
      inside_ = false;
    }
    return true;
  }

  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  [[nodiscard]] tl::expected<JsonLength, std::string> result() const {
    if (list_) return JsonLength{bare_, ""};
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (found_[i]) return JsonLength{*found_[i], std::string(fields[i].name)};
    return tl::unexpected(std::string("the line does not say how many tokens"));
  }

 private:
  bool refuse(std::string complaint) {
    if (complaint_.empty()) complaint_ = std::move(complaint);
    return false;
  }
  /// A list of token ids holds numbers alone.
  bool enter() {
    if (inside_ || (list_ && depth_ == 1)) return false;
    if (depth_ == 1 && current_ != none && !fields[current_].list) return refuse(no_number());
    ++depth_;
    return true;
  }
  bool leave() {
    --depth_;
    return true;
  }
  [[nodiscard]] std::string no_number() const {
    return fmt::format("'{}' is not a whole number of tokens", fields[current_].name);
  }
  bool value(std::optional<std::uint64_t> number) {
    if (depth_ != 1 || list_ || current_ == none) return true;
    if (fields[current_].list) return refuse(fmt::format("'{}' is not a list", fields[current_].name));
    if (!number) return refuse(no_number());
    found_[current_] = number;
    return true;
  }

  int depth_ = 0;
  bool list_ = false;    ///< the line is a list
  bool inside_ = false;  ///< of a field whose items count
  std::size_t current_ = none;
  std::uint64_t bare_ = 0;
  std::array<std::optional<std::uint64_t>, fields.size()> found_;
  std::string complaint_;
};

}  // namespace

std::string json_length_fields() {
  std::string text;
  for (const Field& field : fields) text += (text.empty() ? "" : ", ") + std::string(field.name);
  return text;
}

tl::expected<JsonLength, std::string> read_json_length(std::string_view line) {
  Handler handler;
  rapidjson::Reader reader;
  rapidjson::MemoryStream stream(line.data(), line.size());
  const rapidjson::ParseResult parsed = reader.Parse<rapidjson::kParseIterativeFlag>(stream, handler);
  if (!handler.complaint().empty()) return tl::unexpected(handler.complaint());
  if (parsed.IsError())
    return tl::unexpected(
        fmt::format("not JSON at byte {}: {}", parsed.Offset(), rapidjson::GetParseError_En(parsed.Code())));
  return handler.result();
}

}  // namespace ullage::ingest
