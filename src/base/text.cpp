// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ullage {
namespace {

constexpr std::string_view white_space = " \t\r\n";

char lower_char(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string space(width - std::min(width, width_of(cell)), ' ');
  return align == Align::left ? cell + space : space + cell;
}

// How far a name is from what was typed; smaller is nearer. A name that begins with the typed text is nearer than any
// edit.
std::size_t rank_of(const std::string& typed, std::string_view name) {
  const std::string candidate = lower(name);
  if (!typed.empty() && candidate.starts_with(typed)) return 0;
  return 1 + edit_distance(typed, candidate);
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

// Length of the sequence that a lead byte announces and the smallest code point it may carry; 0 for a bad lead byte.
struct Sequence {
  std::size_t length;
  std::uint32_t smallest;
  std::uint32_t bits;
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) return {1, 0, lead};
  if ((lead & 0xE0) == 0xC0) return {2, 0x80, lead & 0x1Fu};
  if ((lead & 0xF0) == 0xE0) return {3, 0x800, lead & 0x0Fu};
  if ((lead & 0xF8) == 0xF0) return {4, 0x10000, lead & 0x07u};
  return {0, 0, 0};
}

struct Character {
  std::size_t length;  ///< 0 for what is no UTF-8
  std::uint32_t code;
};

Character first_character(std::string_view text) {
  const Sequence sequence = sequence_of(static_cast<unsigned char>(text[0]));
  if (sequence.length == 0 || sequence.length > text.size()) return {0, 0};
  std::uint32_t code = sequence.bits;
  for (std::size_t i = 1; i < sequence.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (!is_continuation(byte)) return {0, 0};
    code = code << 6 | (byte & 0x3Fu);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return {code < sequence.smallest || code > 0x10FFFF || surrogate ? 0 : sequence.length, code};
}

bool breaks_lines(std::uint32_t code) {
  return code == 0x2028 || code == 0x2029;
}

/// Turns the direction of the text behind it, so that it reads as something else.
bool turns_text(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

bool is_control(std::uint32_t code) {
  return code < ' ' || (code >= 0x7F && code < 0xA0) || breaks_lines(code) || turns_text(code);
}

}  // namespace

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(white_space) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower_char);
  return result;
}

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return lower_char(a) == lower_char(b); });
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto cut = text.find(separator);
    parts.emplace_back(text.substr(0, cut));
    if (cut == std::string_view::npos) return parts;
    text.remove_prefix(cut + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string result;
  for (const std::string& part : parts) {
    if (&part != parts.data()) result += separator;
    result += part;
  }
  return result;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> before(right.size() + 1);
  std::vector<std::size_t> above(right.size() + 1);
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t cost = left[i - 1] == right[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + cost});
      const bool swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[right.size()];
}

std::vector<std::string> nearest_names(std::string_view typed, std::span<const std::string_view> names,
                                       std::size_t limit) {
  const std::string wanted = lower(typed);
  const std::size_t reach = 1 + std::max<std::size_t>(2, wanted.size() / 3);
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view name : names) {
    const std::size_t rank = rank_of(wanted, name);
    if (rank <= reach && rank < 1 + std::max(wanted.size(), name.size())) ranked.emplace_back(rank, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (ranked.size() > limit) ranked.resize(limit);
  std::vector<std::string> result;
  for (const auto& [rank, name] : ranked) result.emplace_back(name);
  return result;
}

std::string suggestion(std::string_view typed, std::span<const std::string_view> names, std::size_t limit) {
  const std::vector<std::string> near = nearest_names(typed, names, limit);
  if (near.empty()) return {};
  std::string text = "did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
    text += "'" + near[i] + "'";
  }
  return text + "?";
}

std::size_t utf8_length(std::string_view text) {
  return first_character(text).length;
}

std::string printable(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] >= ' ' && text[i] < 0x7f) {  // nearly always
      out += text[i++];
      continue;
    }
    const auto [length, code] = first_character(text.substr(i));
    if (length == 0 || (is_control(code) && !(lines && (code == '\n' || code == '\t'))))
      out += '?';
    else
      out += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string escaped_controls(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    if (json[i] > 0 && json[i] < 0x7f) {
      out += json[i++];
      continue;
    }
    const auto [length, code] = first_character(json.substr(i));
    if (length > 0 && is_control(code))
      out += fmt::format("\\u{:04x}", code);
    else
      out += json.substr(i, std::max<std::size_t>(length, 1));
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t head = most / 2, tail = text.size() - most / 4;
  while (head > 0 && is_continuation(static_cast<unsigned char>(text[head]))) --head;
  while (tail < text.size() && is_continuation(static_cast<unsigned char>(text[tail]))) ++tail;
  return fmt::format("{} [{} bytes left out] {}", text.substr(0, head), grouped(tail - head), text.substr(tail));
}

/// $'a\nb', so that a word stays in its line.
static std::string escape_quoted(std::string_view word) {
  std::string text = "$'";
  for (const char c : word) {
    if (c == '\n' || c == '\t')
      text += c == '\n' ? "\\n" : "\\t";
    else if (c >= 0 && c < ' ')
      text += fmt::format("\\{:03o}", static_cast<unsigned>(c));
    else
      text += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return text + "'";
}

std::string shell_quoted(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  if (std::ranges::any_of(word, [](char c) { return c >= 0 && c < ' '; })) return escape_quoted(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string counted(std::uint64_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell, false);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  std::vector<const std::vector<std::string>*> lines;
  const bool headed = std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });
  if (headed) lines.push_back(&titles);
  for (const auto& row : rows_) lines.push_back(&row);

  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto* line : lines) {
    for (std::size_t i = 0; i < line->size(); ++i) widths[i] = std::max(widths[i], width_of((*line)[i]));
  }
  std::string result;
  for (const auto* line : lines) {
    for (std::size_t i = 0; i < line->size(); ++i) {
      if (i > 0) result += "  ";
      result += padded((*line)[i], widths[i], columns_[i].align);
    }
    result.erase(result.find_last_not_of(' ') + 1);
    result += '\n';
  }
  return result;
}

}  // namespace ullage
