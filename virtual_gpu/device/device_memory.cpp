// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/device_memory.hpp"

#include <algorithm>
#include <iterator>

namespace ullage::vgpu {

using address_space::granularity;
using address_space::round_up;

namespace {

std::unique_ptr<address_space::AddressSpace> make_space(const Profile& profile, const Backing& backing) {
  if (profile.address_rule == AddressRule::wsl)
    return address_space::wsl(backing.malloc_window(), profile.wsl_held_bytes, profile.wsl_module_bytes);
  return address_space::native_linux(backing.malloc_window());
}

constexpr std::uint64_t largest_request = 1ull << 50;  // rounding a larger one could overflow

}  // namespace

DeviceMemory::DeviceMemory(const Profile& profile, Backing& backing)
    : profile_(profile),
      backing_(backing),
      space_(make_space(profile, backing)),
      next_reservation_(backing.reserve_window().high) {}

bool DeviceMemory::has_room(std::uint64_t bytes) const {
  if (profile_.unlimited) return true;
  const std::uint64_t used = charged_ + profile_.context_bytes;
  return used <= profile_.total_bytes && bytes <= profile_.total_bytes - used;
}

void DeviceMemory::charge(std::uint64_t bytes) {
  charged_ += bytes;
  peak_ = std::max(peak_, charged_);
}

Status DeviceMemory::allocate(std::uint64_t bytes, MemoryKind kind, Address* out) {
  *out = 0;
  if (bytes == 0) return Status::ok;
  if (bytes > largest_request) return Status::out_of_memory;
  const std::uint64_t rounded = round_up(bytes, granularity);
  const bool managed = kind == MemoryKind::managed;
  if (!managed && !has_room(rounded)) return Status::out_of_memory;
  const auto address = space_->allocate(rounded);
  if (!address) return Status::out_of_memory;
  if (!backing_.open(*address, rounded)) {
    space_->release(*address);
    return Status::out_of_memory;
  }
  blocks_.emplace(*address, Block{bytes, rounded, kind});
  if (managed)
    managed_ += rounded;
  else
    charge(rounded);
  *out = *address;
  return Status::ok;
}

Status DeviceMemory::release(Address address, std::uint64_t* freed, MemoryKind* kind) {
  auto it = blocks_.find(address);
  if (it == blocks_.end()) return Status::invalid_value;
  *freed = it->second.charged;
  *kind = it->second.kind;
  (it->second.kind == MemoryKind::managed ? managed_ : charged_) -= it->second.charged;
  backing_.close(address, it->second.charged);
  space_->release(address);
  blocks_.erase(it);
  return Status::ok;
}

Status DeviceMemory::reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, Address* out) {
  *out = 0;
  if (bytes == 0 || bytes % granularity != 0 || bytes > largest_request) return Status::invalid_value;
  const std::uint64_t unit = std::max<std::uint64_t>(alignment, granularity);
  if (unit & (unit - 1)) return Status::invalid_value;
  const auto window = backing_.reserve_window();
  if (next_reservation_ < window.low || next_reservation_ - window.low < bytes + unit) return Status::out_of_memory;
  next_reservation_ = (next_reservation_ - bytes) & ~(unit - 1);
  reservations_.emplace(next_reservation_, bytes);
  *out = next_reservation_;
  return Status::ok;
}

Status DeviceMemory::release_addresses(Address address, std::uint64_t bytes) {
  auto it = reservations_.find(address);
  if (it == reservations_.end() || it->second != bytes) return Status::invalid_value;
  reservations_.erase(it);
  return Status::ok;
}

Status DeviceMemory::create_physical(std::uint64_t bytes, std::uint64_t handle) {
  if (bytes == 0 || bytes % granularity != 0) return Status::invalid_value;
  if (bytes > largest_request || !has_room(bytes)) return Status::out_of_memory;
  physical_.emplace(handle, Physical{bytes});
  charge(bytes);
  return Status::ok;
}

void DeviceMemory::drop_if_unused(std::uint64_t handle, std::uint64_t* freed) {
  auto it = physical_.find(handle);
  if (it == physical_.end() || !it->second.released || it->second.mappings > 0) return;
  if (freed) *freed = it->second.bytes;
  charged_ -= it->second.bytes;
  physical_.erase(it);
}

Status DeviceMemory::release_physical(std::uint64_t handle, std::uint64_t* freed) {
  *freed = 0;
  auto it = physical_.find(handle);
  if (it == physical_.end() || it->second.released) return Status::invalid_value;
  it->second.released = true;
  drop_if_unused(handle, freed);
  return Status::ok;
}

Status DeviceMemory::map(Address address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t handle) {
  auto physical = physical_.find(handle);
  if (physical == physical_.end() || offset != 0 || bytes != physical->second.bytes) return Status::invalid_value;
  auto reservation = reservations_.upper_bound(address);
  if (reservation == reservations_.begin()) return Status::invalid_value;
  --reservation;
  if (address + bytes > reservation->first + reservation->second) return Status::invalid_value;
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first < address + bytes) return Status::already_mapped;
  if (mapping_at(address, nullptr)) return Status::already_mapped;
  if (!backing_.open(address, bytes)) return Status::out_of_memory;
  mappings_.emplace(address, Mapping{bytes, handle});
  ++physical->second.mappings;
  return Status::ok;
}

Status DeviceMemory::unmap(Address address, std::uint64_t bytes) {
  const Address end = address + bytes;
  auto it = mappings_.find(address);
  if (it == mappings_.end()) return Status::invalid_value;
  while (it != mappings_.end() && it->first < end) {
    const Mapping mapping = it->second;
    if (it->first + mapping.bytes > end) return Status::invalid_value;
    backing_.close(it->first, mapping.bytes);
    it = mappings_.erase(it);
    --physical_[mapping.handle].mappings;
    drop_if_unused(mapping.handle, nullptr);
  }
  return Status::ok;
}

MemoryInfo DeviceMemory::info() const {
  const std::uint64_t used = charged_ + profile_.context_bytes;
  return {profile_.total_bytes > used ? profile_.total_bytes - used : 0, profile_.total_bytes, used};
}

const DeviceMemory::Mapping* DeviceMemory::mapping_at(Address address, Address* start) const {
  auto it = mappings_.upper_bound(address);
  if (it == mappings_.begin()) return nullptr;
  --it;
  if (address - it->first >= it->second.bytes) return nullptr;
  if (start) *start = it->first;
  return &it->second;
}

PointerInfo DeviceMemory::find(Address address) const {
  auto it = blocks_.upper_bound(address);
  if (it != blocks_.begin()) {
    --it;
    if (address - it->first < it->second.charged) {
      const bool managed = it->second.kind == MemoryKind::managed;
      return {managed ? PointerInfo::Kind::managed : PointerInfo::Kind::device, it->first, it->second.requested};
    }
  }
  Address start = 0;
  if (const Mapping* mapping = mapping_at(address, &start)) return {PointerInfo::Kind::device, start, mapping->bytes};
  return {};
}

}  // namespace ullage::vgpu
