// SPDX-License-Identifier: Apache-2.0
#include "allocator/device.hpp"

#include <utility>

namespace ullage::allocator {
namespace {

// As on the virtual GPU, so that addresses in a report look alike; only their order matters.
constexpr address_space::Window window{0x7e0000000000, 0x7f0000000000};
constexpr Address reservations_end = 0x7e0000000000;

}  // namespace

SimulatedDevice::SimulatedDevice(std::uint64_t free, std::uint64_t total)
    : SimulatedDevice(free, total, address_space::native_linux(window)) {}

SimulatedDevice::SimulatedDevice(std::uint64_t free, std::uint64_t total,
                                 std::unique_ptr<address_space::AddressSpace> space)
    : free_(free), total_(total), space_(std::move(space)), next_reservation_(reservations_end) {}

std::optional<Address> SimulatedDevice::allocate(std::uint64_t bytes) {
  const std::uint64_t charge = address_space::round_up(bytes, address_space::granularity);
  if (charged_ + charge > free_) return std::nullopt;
  const auto address = space_->allocate(bytes);
  if (address) charged_ += charge;
  return address;
}

void SimulatedDevice::release(Address address, std::uint64_t) {
  if (const auto adopted = adopted_.extract(address))
    charged_ -= adopted.mapped();
  else
    charged_ -= space_->release(address);
}

void SimulatedDevice::adopt(Address address, std::uint64_t bytes) {
  adopted_.emplace(address, bytes);
  charged_ += bytes;
}

Address SimulatedDevice::reserve(std::uint64_t bytes) {
  next_reservation_ -= address_space::round_up(bytes, address_space::granularity);
  return next_reservation_;
}

void SimulatedDevice::release_addresses(Address, std::uint64_t) {}

bool SimulatedDevice::map(std::uint64_t bytes) {
  if (charged_ + bytes > free_) return false;
  charged_ += bytes;
  return true;
}

void SimulatedDevice::unmap(std::uint64_t bytes) {
  charged_ -= bytes;
}

}  // namespace ullage::allocator
