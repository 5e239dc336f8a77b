// SPDX-License-Identifier: Apache-2.0
// AddressMap: a flat hash map from device addresses to small numbers. Open addressing with linear probing; removal
// moves later entries back, so there are no tombstones. No allocation per operation apart from growth.
#pragma once

#include <cstdint>
#include <vector>

namespace ullage::timeline {

/// A bijective mixer of 64 bits (the finaliser of MurmurHash3).
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

class AddressMap {
 public:
  static constexpr std::uint32_t none = 0xffffffffU;  ///< "not there"; never stored

  AddressMap() : slots_(64) {}

  [[nodiscard]] std::uint32_t find(std::uint64_t address) const { return slots_[probe(address)].value; }

  /// Adds or replaces.
  void set(std::uint64_t address, std::uint32_t value) {
    Slot& slot = slots_[probe(address)];
    const bool added = slot.value == none;
    slot = {address, value};
    if (added && ++count_ * 2 > slots_.size()) grow();
  }

  void erase(std::uint64_t address) {
    std::size_t hole = probe(address);
    if (slots_[hole].value == none) return;
    --count_;
    for (std::size_t i = next(hole); slots_[i].value != none; i = next(i)) {
      const std::size_t home = mix(slots_[i].address) & mask();
      if (((i - home) & mask()) < ((i - hole) & mask())) continue;  // the hole lies before its home
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  struct Slot {
    std::uint64_t address = 0;
    std::uint32_t value = none;
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & mask(); }

  [[nodiscard]] std::size_t probe(std::uint64_t address) const {
    std::size_t i = mix(address) & mask();
    while (slots_[i].value != none && slots_[i].address != address) i = next(i);
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != none) slots_[probe(slot.address)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

}  // namespace ullage::timeline
