// SPDX-License-Identifier: Apache-2.0
#include "ingest/lengths/lengths.hpp"

#include "base/text.hpp"
#include "ingest/lengths/json_line.hpp"

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace ullage::ingest {
namespace {

constexpr std::uint64_t longest = 1'000'000'000;
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;
/// A sequence of 10 million token ids is about so long.
constexpr std::size_t longest_line = std::size_t{128} << 20;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string shown(std::string_view line) {
  constexpr std::size_t most = 40;
  return "'" + printable(line.substr(0, most), false) + (line.size() > most ? "...'" : "'");
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<void> line(std::string_view text) {
    if (++number_ == 1 && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    const std::string_view word = trim(text);
    if (word.empty()) return {};
    const auto length = word.front() == '{' || word.front() == '[' ? of_json(word) : of_number(word);
    if (!length) return tl::unexpected(length.error());
    if (lengths_.tokens.size() == most_lengths) return wrong("there are too many sequences", "at most 10^9");
    lengths_.tokens.push_back(*length);
    lengths_.empty += *length == 0 ? 1 : 0;
    return {};
  }

  tl::unexpected<Error> wrong(std::string what, std::string expected) const {
    return fail(ErrorKind::bad_input, std::move(what), name_ + ", line " + std::to_string(number_),
                std::move(expected));
  }
  void next_line() { ++number_; }

  Result<Lengths> finish() && {
    if (lengths_.tokens.empty())
      return fail(ErrorKind::bad_input, "there is no length in it", name_, "a length a line, or a JSON object a line");
    return std::move(lengths_);
  }

 private:
  Result<std::uint32_t> of_number(std::string_view word) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error != std::errc::invalid_argument && end == word.data() + word.size();
    if (!whole) return wrong("not a length: " + shown(word), "a whole number of tokens, or a JSON object with one");
    return in_range(error == std::errc{} ? value : longest + 1, word);
  }

  Result<std::uint32_t> of_json(std::string_view word) {
    const auto read = read_json_length(word);
    if (!read) return wrong(read.error(), "an object with " + json_length_fields() + ", or a list of token ids");
    if (lengths_.tokens.empty()) lengths_.field = read->field;
    return in_range(read->length, word);
  }

  Result<std::uint32_t> in_range(std::uint64_t value, std::string_view word) const {
    if (value > longest) return wrong("no sequence is that long: " + shown(word), "at most 10^9 tokens");
    return static_cast<std::uint32_t>(value);
  }

  const std::string& name_;
  std::uint64_t number_ = 0;
  Lengths lengths_;
};

/// Gives the reader every whole line of `text`; what is left begins the next one. The first `searched` bytes hold no
/// line feed.
Result<std::string_view> whole_lines(Reader& reader, std::string_view text, std::size_t searched) {
  while (const void* end = std::memchr(text.data() + searched, '\n', text.size() - searched)) {
    const auto size = static_cast<std::size_t>(static_cast<const char*>(end) - text.data());
    if (const auto done = reader.line(text.substr(0, size)); !done) return tl::unexpected(done.error());
    text.remove_prefix(size + 1);
    searched = 0;
    for (; text.starts_with('\n'); text.remove_prefix(1)) reader.next_line();
  }
  return text;
}

}  // namespace

Result<Lengths> read_lengths(Source& source) {
  Reader reader(source.name());
  std::string held;
  for (;;) {
    const std::size_t kept = held.size();
    held.resize(kept + chunk_bytes);
    const std::size_t got = source.read(std::as_writable_bytes(std::span(held).subspan(kept)));
    held.resize(kept + got);
    if (got == 0) break;
    const auto rest = whole_lines(reader, held, kept);
    if (!rest) return tl::unexpected(rest.error());
    held.erase(0, held.size() - rest->size());
    if (held.size() > longest_line) {
      reader.next_line();
      return reader.wrong("the line is too long", "at most 128 MiB");
    }
  }
  if (source.damage()) return tl::unexpected(*source.damage());
  if (const auto done = held.empty() ? Result<void>() : reader.line(held); !done) return tl::unexpected(done.error());
  return std::move(reader).finish();
}

}  // namespace ullage::ingest
