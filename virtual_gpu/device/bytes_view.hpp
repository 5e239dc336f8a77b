// SPDX-License-Identifier: Apache-2.0
// Reads from untrusted bytes at an offset: never behind the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace ullage::vgpu {

class BytesView {
 public:
  explicit BytesView(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size(); }

  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  /// An empty span when the range is not wholly inside.
  std::span<const std::byte> range(std::uint64_t offset, std::uint64_t length) const {
    if (offset > bytes_.size() || bytes_.size() - offset < length) return {};
    return bytes_.subspan(offset, length);
  }

  /// The zero-terminated text at an offset; empty when it does not end.
  std::string_view text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const auto* first = reinterpret_cast<const char*>(bytes_.data() + offset);
    const void* end = std::memchr(first, 0, bytes_.size() - offset);
    if (end == nullptr) return {};
    return {first, static_cast<std::size_t>(static_cast<const char*>(end) - first)};
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace ullage::vgpu
