// SPDX-License-Identifier: Apache-2.0
#include "address_space/address_space.hpp"

#include <set>
#include <utility>

namespace ullage::address_space {
namespace {

/// Free ranges by address; neighbours are merged. Those of one size are kept together, so that a search looks at one
/// range of each size: few sizes are in use, ranges are many.
class FreeRanges {
 public:
  /// Merged only with neighbours in [low, high).
  void insert(Address start, std::uint64_t bytes, Window within) {
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.end() && next->first < within.high && start + bytes == next->first) bytes += erase(next++);
    if (next != ranges_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first >= within.low && previous->first + previous->second == start) {
        start = previous->first;
        bytes += erase(previous);
      }
    }
    add(start, bytes);
  }

  /// First fit from the lowest address, cut at its start.
  std::optional<Address> take_lowest(std::uint64_t bytes) {
    std::optional<Address> lowest;
    for (auto same = by_size_.lower_bound(bytes); same != by_size_.end(); ++same)
      if (!lowest || *same->second.begin() < *lowest) lowest = *same->second.begin();
    if (!lowest) return std::nullopt;
    if (const std::uint64_t rest = erase(ranges_.find(*lowest)) - bytes; rest > 0) add(*lowest + bytes, rest);
    return lowest;
  }

  /// First fit from the highest address, cut at its end.
  std::optional<Address> take_highest(std::uint64_t bytes) {
    std::optional<Address> highest;
    for (auto same = by_size_.lower_bound(bytes); same != by_size_.end(); ++same)
      if (!highest || *same->second.rbegin() > *highest) highest = *same->second.rbegin();
    if (!highest) return std::nullopt;
    const std::uint64_t rest = erase(ranges_.find(*highest)) - bytes;
    if (rest > 0) add(*highest, rest);
    return *highest + rest;
  }

  /// False when that is not one free range.
  bool remove(Address start, std::uint64_t bytes) {
    const auto it = ranges_.find(start);
    if (it == ranges_.end() || it->second != bytes) return false;
    erase(it);
    return true;
  }

 private:
  void add(Address start, std::uint64_t bytes) {
    ranges_.emplace(start, bytes);
    by_size_[bytes].insert(start);
  }

  /// Returns its size.
  std::uint64_t erase(std::map<Address, std::uint64_t>::iterator it) {
    const auto [start, bytes] = *it;
    const auto same = by_size_.find(bytes);
    same->second.erase(start);
    if (same->second.empty()) by_size_.erase(same);
    ranges_.erase(it);
    return bytes;
  }

  std::map<Address, std::uint64_t> ranges_;
  std::map<std::uint64_t, std::set<Address>> by_size_;
};

/// What is handed out, by start address.
class UsedRanges {
 public:
  void add(Address start, std::uint64_t bytes) { ranges_.emplace(start, bytes); }
  /// Size of the removed range; 0 when none starts there.
  std::uint64_t remove(Address start) {
    const auto it = ranges_.find(start);
    if (it == ranges_.end()) return 0;
    const std::uint64_t bytes = it->second;
    ranges_.erase(it);
    return bytes;
  }

 private:
  std::map<Address, std::uint64_t> ranges_;
};

class NativeLinux final : public AddressSpace {
 public:
  explicit NativeLinux(Window window) : window_(window) { gaps_.insert(window.low, window.high - window.low, window); }

  std::optional<Address> allocate(std::uint64_t bytes) override {
    bytes = round_up(bytes, granularity);
    auto address = free_.take_lowest(bytes);
    if (!address) address = take_new_chunk(bytes);
    if (address) used_.add(*address, bytes);
    return address;
  }

  std::uint64_t release(Address address) override {
    const std::uint64_t bytes = used_.remove(address);
    if (bytes > 0) give_back(address, bytes);
    return bytes;
  }

 private:
  std::optional<Address> take_new_chunk(std::uint64_t bytes) {
    const std::uint64_t size = round_up(bytes, chunk_unit);
    const auto start = gaps_.take_highest(size);
    if (!start) return std::nullopt;
    chunks_.emplace(*start, size);
    if (size > bytes) free_.insert(*start + bytes, size - bytes, {*start, *start + size});
    return start;
  }

  void give_back(Address address, std::uint64_t bytes) {
    const auto chunk = std::prev(chunks_.upper_bound(address));
    const auto [start, size] = *chunk;
    free_.insert(address, bytes, {start, start + size});
    if (!free_.remove(start, size)) return;
    chunks_.erase(chunk);
    gaps_.insert(start, size, window_);
  }

  Window window_;
  FreeRanges gaps_;                          ///< between chunks
  FreeRanges free_;                          ///< inside chunks, never across two of them
  std::map<Address, std::uint64_t> chunks_;  ///< bytes by address
  UsedRanges used_;
};

class Wsl final : public AddressSpace {
 public:
  Wsl(Window window, std::uint64_t held, std::uint64_t module) : window_(window), module_(module) {
    free_.insert(window.low, window.high - window.low, window);
    if (held > 0) held_ = allocate(held);
  }

  std::optional<Address> allocate(std::uint64_t bytes) override {
    bytes = round_up(bytes, granularity);
    const auto address = free_.take_lowest(bytes);
    if (address) used_.add(*address, bytes);
    return address;
  }

  std::uint64_t release(Address address) override {
    const std::uint64_t bytes = used_.remove(address);
    if (bytes > 0) free_.insert(address, bytes, window_);
    return bytes;
  }

  void first_launch() override {
    if (launched_) return;
    launched_ = true;
    if (module_ > 0) allocate(module_);
    if (held_) release(*held_);
  }

 private:
  Window window_;
  std::uint64_t module_;
  FreeRanges free_;
  UsedRanges used_;
  std::optional<Address> held_;
  bool launched_ = false;
};

}  // namespace

std::unique_ptr<AddressSpace> native_linux(Window window) {
  return std::make_unique<NativeLinux>(window);
}

std::unique_ptr<AddressSpace> wsl(Window window, std::uint64_t held, std::uint64_t module) {
  return std::make_unique<Wsl>(window, held, module);
}

}  // namespace ullage::address_space
