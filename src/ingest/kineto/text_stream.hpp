// SPDX-License-Identifier: Apache-2.0
// Internal to the Kineto reader: a Source as RapidJSON's input stream, chunk by chunk, with repairs of what JSON
// forbids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ingest/file/source.hpp"

namespace ullage::ingest {

/// Replaces, in place, what is no JSON inside texts: control characters become blanks, a backslash before a character
/// that cannot be escaped becomes a slash, a quote that cannot end a text becomes an apostrophe.
class TextRepair {
 public:
  /// `text` continues what was given before; `last` when nothing follows. The last bytes may be held back for the next
  /// call: returns how many are final.
  std::size_t repair(char* text, std::size_t size, bool last);
  [[nodiscard]] std::uint64_t repaired() const { return repaired_; }

 private:
  std::size_t escape(char* text, std::size_t at, std::size_t size);
  bool ends_text(const char* text, std::size_t after, std::size_t size, bool last, bool& unsure) const;
  bool in_text_ = false;
  std::uint64_t repaired_ = 0;
};

class TextStream {
 public:
  using Ch = char;
  explicit TextStream(Source& source, bool repair) : source_(source), repair_(repair), buffer_(chunk) { fill(); }

  [[nodiscard]] Ch Peek() const { return at_ == end_ ? '\0' : *at_; }
  Ch Take() {
    if (at_ == end_) return '\0';
    const Ch c = *at_++;
    if (at_ == end_) fill();
    return c;
  }
  [[nodiscard]] std::size_t Tell() const { return before_ + static_cast<std::size_t>(at_ - buffer_.data()); }
  [[nodiscard]] std::uint64_t repaired() const { return repairs_.repaired(); }

  // Writing, which RapidJSON asks of every stream.
  Ch* PutBegin() { return nullptr; }
  void Put(Ch) {}
  void Flush() {}
  std::size_t PutEnd(Ch*) { return 0; }

 private:
  static constexpr std::size_t chunk = 1 << 18;
  void fill();

  Source& source_;
  bool repair_;
  TextRepair repairs_;
  std::vector<char> buffer_;
  std::size_t final_ = 0;  ///< repaired bytes
  std::size_t read_ = 0;   ///< bytes in the buffer
  bool ended_ = false;
  std::size_t before_ = 0;  ///< bytes in earlier buffers
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace ullage::ingest
