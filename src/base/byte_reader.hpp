// SPDX-License-Identifier: Apache-2.0
// ByteReader: reads little-endian numbers from untrusted bytes; never reads past the end, never trusts a length.
#pragma once

#include "base/result.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ullage {

/// A cursor over bytes it does not own. Every read checks what is left; after an error the cursor has not moved.
/// Errors are `bad_input` with the byte offset in `where`; the caller adds the path.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Bytes consumed so far.
  [[nodiscard]] std::size_t offset() const { return offset_; }
  /// Bytes left.
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - offset_; }
  [[nodiscard]] bool at_end() const { return remaining() == 0; }

  [[nodiscard]] Result<std::uint8_t> u8() { return number<std::uint8_t>(); }
  [[nodiscard]] Result<std::uint16_t> u16() { return number<std::uint16_t>(); }
  [[nodiscard]] Result<std::uint32_t> u32() { return number<std::uint32_t>(); }
  [[nodiscard]] Result<std::uint64_t> u64() { return number<std::uint64_t>(); }

  /// The next `count` bytes, as a view into the input.
  [[nodiscard]] Result<std::span<const std::byte>> bytes(std::size_t count) {
    if (count > remaining()) return overrun(count);
    const auto view = bytes_.subspan(offset_, count);
    offset_ += count;
    return view;
  }

  /// The next `count` bytes, as text (not checked for UTF-8).
  [[nodiscard]] Result<std::string_view> text(std::size_t count) {
    return bytes(count).map([](std::span<const std::byte> view) {
      return std::string_view(reinterpret_cast<const char*>(view.data()), view.size());
    });
  }

  /// Moves on by `count` bytes.
  [[nodiscard]] Result<void> skip(std::size_t count) {
    if (count > remaining()) return overrun(count);
    offset_ += count;
    return {};
  }

 private:
  template <std::unsigned_integral T>
  Result<T> number() {
    if (sizeof(T) > remaining()) return overrun(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= std::to_integer<std::uint64_t>(bytes_[offset_ + i]) << (8 * i);
    }
    offset_ += sizeof(T);
    return static_cast<T>(value);
  }

  [[nodiscard]] tl::unexpected<Error> overrun(std::size_t wanted) const {
    return fail(ErrorKind::bad_input, "the data ends too early", "byte " + std::to_string(offset_),
                std::to_string(wanted) + " more bytes, " + std::to_string(remaining()) + " are left",
                "the file may have been cut short while it was written or copied");
  }

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
};

}  // namespace ullage
