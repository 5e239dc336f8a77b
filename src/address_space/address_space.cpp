// SPDX-License-Identifier: Apache-2.0
#include "address_space/address_space.hpp"

#include <utility>

namespace ullage::address_space {
namespace {

/// Free ranges by address; neighbours are merged.
class FreeRanges {
 public:
  void insert(Address start, std::uint64_t bytes) {
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.begin()) {
      auto previous = std::prev(next);
      if (previous->first + previous->second == start) {
        start = previous->first;
        bytes += previous->second;
        ranges_.erase(previous);
      }
    }
    if (next != ranges_.end() && start + bytes == next->first) {
      bytes += next->second;
      ranges_.erase(next);
    }
    ranges_.emplace(start, bytes);
  }

  /// First fit from the lowest address.
  std::optional<Address> take_lowest(std::uint64_t bytes) {
    for (auto it = ranges_.begin(); it != ranges_.end(); ++it)
      if (it->second >= bytes) return cut(it, bytes);
    return std::nullopt;
  }

  bool is_single(Address start, std::uint64_t bytes) const {
    auto it = ranges_.find(start);
    return it != ranges_.end() && it->second == bytes;
  }

  const std::map<Address, std::uint64_t>& ranges() const { return ranges_; }

 private:
  Address cut(std::map<Address, std::uint64_t>::iterator it, std::uint64_t bytes) {
    auto [start, size] = *it;
    ranges_.erase(it);
    if (size > bytes) ranges_.emplace(start + bytes, size - bytes);
    return start;
  }

  std::map<Address, std::uint64_t> ranges_;
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

struct Chunk {
  std::uint64_t bytes = 0;
  FreeRanges free;
};

class NativeLinux final : public AddressSpace {
 public:
  explicit NativeLinux(Window window) : window_(window) {}

  std::optional<Address> allocate(std::uint64_t bytes) override {
    bytes = round_up(bytes, granularity);
    auto address = take_from_chunks(bytes);
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
  std::optional<Address> take_from_chunks(std::uint64_t bytes) {
    for (auto& [start, chunk] : chunks_)
      if (auto address = chunk.free.take_lowest(bytes)) return address;
    return std::nullopt;
  }

  std::optional<Address> take_new_chunk(std::uint64_t bytes) {
    const std::uint64_t size = round_up(bytes, chunk_unit);
    const auto start = highest_gap(size);
    if (!start) return std::nullopt;
    Chunk chunk{size, {}};
    if (size > bytes) chunk.free.insert(*start + bytes, size - bytes);
    chunks_.emplace(*start, std::move(chunk));
    return start;
  }

  std::optional<Address> highest_gap(std::uint64_t size) const {
    Address top = window_.high;
    for (auto it = chunks_.rbegin(); it != chunks_.rend(); ++it) {
      const Address end = it->first + it->second.bytes;
      if (top - end >= size) return top - size;
      top = it->first;
    }
    if (top - window_.low >= size) return top - size;
    return std::nullopt;
  }

  void give_back(Address address, std::uint64_t bytes) {
    auto it = std::prev(chunks_.upper_bound(address));
    it->second.free.insert(address, bytes);
    if (it->second.free.is_single(it->first, it->second.bytes)) chunks_.erase(it);
  }

  Window window_;
  std::map<Address, Chunk> chunks_;
  UsedRanges used_;
};

class Wsl final : public AddressSpace {
 public:
  Wsl(Window window, std::uint64_t held, std::uint64_t module) : module_(module) {
    free_.insert(window.low, window.high - window.low);
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
    if (bytes > 0) free_.insert(address, bytes);
    return bytes;
  }

  void first_launch() override {
    if (launched_) return;
    launched_ = true;
    if (module_ > 0) allocate(module_);
    if (held_) release(*held_);
  }

 private:
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
