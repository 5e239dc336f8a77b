// SPDX-License-Identifier: Apache-2.0
// The host address space behind device addresses. Pages are committed by the kernel only when they are touched, so a
// device of any size costs nothing until somebody writes to it.
#pragma once

#include <cstdint>

#include "address_space/address_space.hpp"

namespace ullage::vgpu {

/// Reserves two fixed windows: one for cudaMalloc, one for address reservations of the virtual memory API.
class Backing {
 public:
  /// `base` is a multiple of 32 MiB; the same base gives the same addresses in every run. Each window is as large as
  /// the process may have, `window` bytes at most.
  explicit Backing(std::uint64_t base = default_base, std::uint64_t window = default_window);
  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  bool reserved() const { return reserved_; }
  address_space::Window malloc_window() const { return {base_, base_ + window_bytes_}; }
  address_space::Window reserve_window() const { return {base_ + window_bytes_, base_ + 2 * window_bytes_}; }
  bool contains(std::uint64_t address) const { return address >= base_ && address - base_ < 2 * window_bytes_; }

  /// Makes a range readable and writable; it reads as zeros.
  bool open(std::uint64_t address, std::uint64_t bytes);
  /// Drops the content and makes the range inaccessible again.
  void close(std::uint64_t address, std::uint64_t bytes);

  /// How much of a range has pages of the host behind it. Bytes.
  static std::uint64_t resident_bytes(std::uint64_t address, std::uint64_t bytes);

  static constexpr std::uint64_t default_base = 0x2000'0000'0000;
  static constexpr std::uint64_t default_window = 16ull << 40;

 private:
  bool try_reserve(std::uint64_t window_bytes);

  std::uint64_t base_;
  std::uint64_t window_bytes_ = 0;
  bool reserved_ = false;
};

}  // namespace ullage::vgpu
