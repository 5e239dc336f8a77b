// SPDX-License-Identifier: Apache-2.0
// Which addresses the driver's cudaMalloc gives. PyTorch breaks ties among equal free blocks by address, so the order
// of addresses decides which block is split and, in the end, what is reserved. Shared by the virtual device and the
// allocator model. Nothing here touches memory: it only does the book-keeping of addresses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace ullage::address_space {

using Address = std::uint64_t;

inline constexpr std::uint64_t granularity = 2ull << 20;  ///< cudaMalloc's unit
inline constexpr std::uint64_t chunk_unit = 32ull << 20;  ///< what the native driver asks the kernel for at a time

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// A window of address space that a rule may hand out: [low, high), both multiples of 32 MiB.
struct Window {
  Address low = 0;
  Address high = 0;
};

/// One driver's rule. Deterministic: the same calls give the same addresses.
class AddressSpace {
 public:
  virtual ~AddressSpace() = default;
  /// Address of a new range of `bytes` (rounded up to 2 MiB, more than 0); nothing when the window is exhausted.
  virtual std::optional<Address> allocate(std::uint64_t bytes) = 0;
  /// Gives a range back; returns its rounded size, or 0 when `address` is not the start of one.
  virtual std::uint64_t release(Address address) = 0;
  /// The first kernel was launched (the WDDM driver then loads modules into the address space).
  virtual void first_launch() {}
};

/// Native Linux, observed on real snapshots: ranges inside reserved chunks first, lowest address first; otherwise a new
/// chunk of a multiple of 32 MiB in the highest gap that fits (the kernel's top-down order), the request at its start.
/// Chosen, not verified: a chunk whose ranges are all free is unmapped, so its gap can be taken again (after
/// empty_cache).
std::unique_ptr<AddressSpace> native_linux(Window window);

/// WSL / WDDM: first fit from the bottom at 2 MiB granularity. `held` bytes are taken at the bottom when the context is
/// made; at the first launch `module` bytes are taken first fit and the held ones are given back.
std::unique_ptr<AddressSpace> wsl(Window window, std::uint64_t held, std::uint64_t module);

}  // namespace ullage::address_space
