// SPDX-License-Identifier: Apache-2.0
// LocalMachine: device and host memory.
#include <sys/mman.h>

#include <algorithm>

#include "virtual_gpu/device/local_machine.hpp"

namespace ullage::vgpu {

void LocalMachine::log_memory(ulog::RecordType type, std::uint64_t address, std::uint64_t bytes, MemoryKind kind) {
  log_.add(type, streams_.now(), ulog::Memory{address, bytes, static_cast<std::uint32_t>(kind), 0});
}

Status LocalMachine::allocate(std::uint64_t bytes, MemoryKind kind, Address* out) {
  const Lock lock(mutex_);
  claim_run();
  streams_.advance();
  const Status status = memory_.allocate(bytes, kind, out);
  if (status == Status::ok && *out != 0)
    log_memory(ulog::RecordType::allocate, *out, address_space::round_up(bytes, address_space::granularity), kind);
  if (status == Status::out_of_memory) log_memory(ulog::RecordType::out_of_memory, 0, bytes, kind);
  return status;
}

Status LocalMachine::release(Address address) {
  if (address == 0) return Status::ok;
  if (ActivityObserver* profiler = observer(); profiler != nullptr) profiler->wait_for_device();
  const Lock lock(mutex_);
  std::uint64_t waited = 0;
  if (streams_.synchronize_device(&waited) != Status::ok) return Status::not_permitted;
  std::uint64_t freed = 0;
  MemoryKind kind{};
  const Status status = memory_.release(address, &freed, &kind);
  if (status != Status::ok) return status;
  known_.set_unknown(address, freed);
  log_memory(ulog::RecordType::release, address, freed, kind);
  return status;
}

MemoryInfo LocalMachine::memory_info() const {
  const Lock lock(mutex_);
  return memory_.info();
}

Status LocalMachine::reserve_addresses(std::uint64_t bytes, std::uint64_t alignment, Address* out) {
  const Lock lock(mutex_);
  return memory_.reserve_addresses(bytes, alignment, out);
}

Status LocalMachine::release_addresses(Address address, std::uint64_t bytes) {
  const Lock lock(mutex_);
  return memory_.release_addresses(address, bytes);
}

Status LocalMachine::create_physical(std::uint64_t bytes, std::uint64_t* handle) {
  const Lock lock(mutex_);
  claim_run();
  streams_.advance();
  *handle = new_handle();
  const Status status = memory_.create_physical(bytes, *handle);
  const auto type = status == Status::ok ? ulog::RecordType::allocate : ulog::RecordType::out_of_memory;
  if (status == Status::ok || status == Status::out_of_memory) log_memory(type, *handle, bytes, MemoryKind::physical);
  return status;
}

Status LocalMachine::release_physical(std::uint64_t handle) {
  const Lock lock(mutex_);
  std::uint64_t freed = 0;
  const Status status = memory_.release_physical(handle, &freed);
  if (freed > 0) log_memory(ulog::RecordType::release, handle, freed, MemoryKind::physical);
  return status;
}

Status LocalMachine::map(Address address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t handle) {
  const Lock lock(mutex_);
  return memory_.map(address, bytes, offset, handle);
}

Status LocalMachine::unmap(Address address, std::uint64_t bytes) {
  const Lock lock(mutex_);
  known_.set_unknown(address, bytes);
  return memory_.unmap(address, bytes);
}

Status LocalMachine::allocate_pinned(std::uint64_t bytes, void** out) {
  *out = nullptr;
  if (bytes == 0) return Status::ok;
  void* got = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return Status::out_of_memory;
  *out = got;
  const Lock lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(got);
  host_.insert(address, bytes, MemoryKind::pinned);
  log_memory(ulog::RecordType::host_memory, address, bytes, MemoryKind::pinned);
  return Status::ok;
}

Status LocalMachine::free_pinned(void* pointer) {
  if (!pointer) return Status::ok;
  const Lock lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::uint64_t bytes = host_.remove(address, MemoryKind::pinned);
  if (bytes == 0) return Status::invalid_value;
  munmap(pointer, bytes);
  log_.add(ulog::RecordType::host_memory, streams_.now(),
           ulog::Memory{address, bytes, static_cast<std::uint32_t>(MemoryKind::pinned), 0}, 1);
  return Status::ok;
}

Status LocalMachine::register_host(void* pointer, std::uint64_t bytes) {
  if (!pointer || bytes == 0) return Status::invalid_value;
  const Lock lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (!host_.insert(address, bytes, MemoryKind::registered)) return Status::already_mapped;
  log_memory(ulog::RecordType::host_memory, address, bytes, MemoryKind::registered);
  return Status::ok;
}

Status LocalMachine::unregister_host(void* pointer) {
  const Lock lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const std::uint64_t bytes = host_.remove(address, MemoryKind::registered);
  if (bytes == 0) return Status::invalid_value;
  log_.add(ulog::RecordType::host_memory, streams_.now(),
           ulog::Memory{address, bytes, static_cast<std::uint32_t>(MemoryKind::registered), 0}, 1);
  return Status::ok;
}

HostCosts LocalMachine::host_costs() const {
  const Lock lock(mutex_);
  HostCosts costs;
  memory_.for_each_range(
      [&](Address address, std::uint64_t bytes) { costs.device_resident += Backing::resident_bytes(address, bytes); });
  host_.for_each([&](Address address, std::uint64_t bytes) {
    costs.pinned += bytes;
    costs.pinned_resident += std::min(bytes, Backing::resident_bytes(address, bytes));
  });
  return costs;
}

PointerInfo LocalMachine::pointer_info(const void* pointer) const {
  const Lock lock(mutex_);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  return backing_.contains(address) ? memory_.find(address) : host_.find(address);
}

}  // namespace ullage::vgpu
