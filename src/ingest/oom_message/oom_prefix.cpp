// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/oom_prefix.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace ullage::ingest {
namespace {

bool digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The length of a timestamp at the front: a date like 2026-01-31 or 2026/01/31, and the time behind it.
std::size_t timestamp(std::string_view text) {
  constexpr std::string_view date = "dddd-dd-dd";
  if (text.size() < date.size()) return 0;
  for (std::size_t i = 0; i < date.size(); ++i) {
    if (date[i] == 'd' ? !digit(text[i]) : text[i] != '-' && text[i] != '/') return 0;
  }
  std::size_t end = date.size();
  if (end < text.size() && (text[end] == 'T' || text[end] == ' ')) ++end;
  while (end < text.size() && (digit(text[end]) || std::string_view(":.,+Z").find(text[end]) != std::string_view::npos))
    ++end;
  return end;
}

class Stripper {
 public:
  explicit Stripper(std::string_view line) { out_.text = line; }

  BareLine run() {
    for (int i = 0; i < 8 && step(); ++i) {
    }
    return std::move(out_);
  }

 private:
  bool step() {
    colour();
    out_.text = trim(out_.text);
    return quote() || dated() || bracketed() || ray() || numbered() || piped();
  }

  bool drop(std::size_t count) {
    out_.text.remove_prefix(std::min(count, out_.text.size()));
    return count > 0;
  }

  void colour() {
    while (out_.text.starts_with("\x1b[")) {
      const auto end = out_.text.find('m');
      if (end == out_.text.npos || end > 12) return;
      drop(end + 1);
    }
  }

  bool quote() {
    for (const std::string_view mark : {"> ", "| ", "\u2502", "E   "}) {
      if (out_.text.starts_with(mark)) return drop(mark.size());
    }
    return false;
  }

  bool dated() { return drop(timestamp(out_.text)); }

  void take(std::string_view origin, std::optional<int> rank) {
    if (!out_.origin.empty()) return;
    out_.origin = origin;
    out_.rank = rank;
  }

  // [rank3]: [default0]: [1,3]<stderr>: [2026-01-31 12:34:56,789] [ERROR]
  bool bracketed() {
    if (!out_.text.starts_with('[')) return false;
    const auto close = out_.text.find(']');
    if (close == out_.text.npos || close > 64) return false;
    const std::string_view inside = out_.text.substr(1, close - 1);
    std::size_t end = close + 1;
    for (const std::string_view word : {"rank", "default"}) {
      if (!inside.starts_with(word)) continue;
      const auto rank = number_in(inside.substr(word.size()));
      if (!rank) continue;
      take(inside, rank);
      return drop(end + (out_.text.substr(end).starts_with(':') ? 1 : 0));
    }
    const std::string_view behind = out_.text.substr(end);
    for (const std::string_view stream : {"<stderr>:", "<stdout>:"}) {
      if (!behind.starts_with(stream)) continue;
      take(inside, number_in(inside.substr(inside.find(',') + 1)));
      return drop(end + stream.size());
    }
    const bool level = std::ranges::all_of(inside, [](char c) { return c >= 'A' && c <= 'Z'; }) && !inside.empty();
    return timestamp(inside) > 0 || level ? drop(end) : false;
  }

  bool ray() {
    if (!out_.text.starts_with('(')) return false;
    const auto close = out_.text.find(')');
    if (close == out_.text.npos || close > 120) return false;
    const std::string_view inside = out_.text.substr(1, close - 1);
    if (inside.find("pid=") == inside.npos) return false;
    take(inside, std::nullopt);
    return drop(close + 1);
  }

  // `3: ` of srun --label
  bool numbered() {
    const auto colon = out_.text.find_first_not_of("0123456789");
    if (colon == out_.text.npos || colon == 0 || colon > 6 || !out_.text.substr(colon).starts_with(": ")) return false;
    take(out_.text.substr(0, colon), number_in(out_.text.substr(0, colon)));
    return drop(colon + 2);
  }

  // `trainer-1  | ` of docker compose
  bool piped() {
    const auto bar = out_.text.substr(0, 64).find(" | ");
    if (bar == out_.text.npos) return false;
    const std::string_view name = trim(out_.text.substr(0, bar));
    const bool word = !name.empty() && name.find_first_not_of(
                                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "0123456789_.-") == name.npos;
    if (!word) return false;
    take(name, std::nullopt);
    return drop(bar + 3);
  }

  BareLine out_;
};

}  // namespace

BareLine bare_line(std::string_view line) {
  return Stripper(line).run();
}

void squeeze(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (c == '\\' && (next == 'n' || next == 't' || next == 'r')) {
      ++i;
    } else if (c == '\x1b' && next == '[') {
      const auto end = text.find('m', i);
      i = end == text.npos || end - i > 12 ? i + 1 : end;
    } else if (static_cast<unsigned char>(c) > ' ') {
      out.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
    }
  }
}

}  // namespace ullage::ingest
