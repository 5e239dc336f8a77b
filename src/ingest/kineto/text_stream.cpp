// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/text_stream.hpp"

#include <algorithm>
#include <cstring>

namespace ullage::ingest {

namespace {

constexpr std::size_t look_ahead = 64;

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

std::size_t TextRepair::escape(char* text, std::size_t at, std::size_t size) {
  if (at + 1 < size && std::strchr("\"\\/bfnrtu", text[at + 1]) != nullptr && text[at + 1] != '\0') return at + 2;
  text[at] = '/';
  ++repaired_;
  return at + 1;
}

// A text ends where a comma, a colon or a closing bracket follows; what else follows a quote belongs to the text.
bool TextRepair::ends_text(const char* text, std::size_t after, std::size_t size, bool last, bool& unsure) const {
  while (after < size && is_blank(text[after])) ++after;
  unsure = after == size && !last;
  return after == size || std::strchr(",:}]", text[after]) != nullptr;
}

std::size_t TextRepair::repair(char* text, std::size_t size, bool last) {
  const std::size_t sure = last || size < look_ahead ? size : size - look_ahead;
  std::size_t i = 0;
  while (i < (last ? size : sure)) {
    const char c = text[i];
    if (!in_text_) {
      in_text_ = c == '"';
      ++i;
    } else if (c == '\\') {
      i = escape(text, i, size);
    } else if (c == '"') {
      bool unsure = false;
      const bool ends = ends_text(text, i + 1, size, last, unsure);
      if (unsure && i > 0) return i;
      in_text_ = !ends;
      repaired_ += ends ? 0 : 1;
      if (!ends) text[i] = '\'';
      ++i;
    } else {
      if (static_cast<unsigned char>(c) < 0x20) text[i] = ' ', ++repaired_;
      ++i;
    }
  }
  return i;
}

void TextStream::fill() {
  before_ += final_;
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(final_), buffer_.begin() + static_cast<std::ptrdiff_t>(read_),
            buffer_.begin());
  read_ -= final_;
  const std::size_t got = source_.read(std::as_writable_bytes(std::span(buffer_).subspan(read_)));
  ended_ = read_ + got < buffer_.size();
  read_ += got;
  final_ = repair_ ? repairs_.repair(buffer_.data(), read_, ended_) : read_;
  at_ = buffer_.data();
  end_ = at_ + final_;
}

}  // namespace ullage::ingest
