// SPDX-License-Identifier: Apache-2.0
// The account of device memory: what is allocated, reserved, created and mapped, and what it is charged.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "address_space/address_space.hpp"
#include "virtual_gpu/device/backing.hpp"
#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

/// One account for cudaMalloc, cudaMemGetInfo and NVML. Not thread-safe; the machine locks.
///
/// Charged are cudaMalloc'ed blocks (rounded up to 2 MiB) and physical memory of cuMemCreate (not reserved or mapped
/// addresses). Managed memory has an account of its own: a real GPU may evict it.
class DeviceMemory {
 public:
  DeviceMemory(const Profile& profile, Backing& backing);

  Status allocate(std::uint64_t bytes, MemoryKind kind, Address* out);
  /// `freed` gets the charged bytes, `kind` what it was.
  Status release(Address address, std::uint64_t* freed, MemoryKind* kind);

  Status reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, Address* out);
  Status release_addresses(Address address, std::uint64_t bytes);
  Status create_physical(std::uint64_t bytes, std::uint64_t handle);
  Status release_physical(std::uint64_t handle, std::uint64_t* freed);
  Status map(Address address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t handle);
  Status unmap(Address address, std::uint64_t bytes);

  MemoryInfo info() const;
  PointerInfo find(Address address) const;
  void first_launch() { space_->first_launch(); }

  /// Calls f(address, bytes) for everything that is allocated or mapped.
  template <class F>
  void for_each_range(F f) const {
    for (const auto& [address, block] : blocks_) f(address, block.charged);
    for (const auto& [address, mapping] : mappings_) f(address, mapping.bytes);
  }

  std::uint64_t charged() const { return charged_; }
  std::uint64_t peak() const { return peak_; }
  std::uint64_t managed() const { return managed_; }

 private:
  struct Block {
    std::uint64_t requested;
    std::uint64_t charged;
    MemoryKind kind;
  };
  struct Physical {
    std::uint64_t bytes;
    int mappings = 0;
    bool released = false;
  };
  struct Mapping {
    std::uint64_t bytes;
    std::uint64_t handle;
  };

  bool has_room(std::uint64_t bytes) const;
  void charge(std::uint64_t bytes);
  void drop_if_unused(std::uint64_t handle, std::uint64_t* freed);
  const Mapping* mapping_at(Address address, Address* start) const;

  const Profile& profile_;
  Backing& backing_;
  std::unique_ptr<address_space::AddressSpace> space_;
  std::map<Address, Block> blocks_;
  std::map<Address, std::uint64_t> reservations_;
  std::map<Address, Mapping> mappings_;
  std::unordered_map<std::uint64_t, Physical> physical_;
  Address next_reservation_ = 0;
  std::uint64_t charged_ = 0;
  std::uint64_t peak_ = 0;
  std::uint64_t managed_ = 0;
};

}  // namespace ullage::vgpu
