// SPDX-License-Identifier: Apache-2.0
// Sink: takes a result that may be larger than memory, piece by piece.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace ullage::report {

/// Collects small pieces and hands on large ones. What is not yet handed on at the end needs flush().
class Sink {
 public:
  explicit Sink(std::function<void(std::string_view)> take) : take_(std::move(take)) { buffer_.reserve(2 * piece); }

  void put(char byte) {
    buffer_ += byte;
    if (buffer_.size() >= piece) flush();
  }
  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= piece) flush();
  }
  void flush() {
    if (!buffer_.empty()) take_(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 18;
  std::function<void(std::string_view)> take_;
  std::string buffer_;
};

}  // namespace ullage::report
