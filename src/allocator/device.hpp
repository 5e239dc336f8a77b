// SPDX-License-Identifier: Apache-2.0
// What the allocator model asks the driver for: memory, and addresses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "address_space/address_space.hpp"

namespace ullage::allocator {

using Address = std::uint64_t;

/// A driver. Bytes are charged where it says so; nothing is returned when they are more than is free.
class Device {
 public:
  virtual ~Device() = default;
  /// cudaMalloc: an address; charges.
  virtual std::optional<Address> allocate(std::uint64_t bytes) = 0;
  virtual void release(Address address, std::uint64_t bytes) = 0;
  /// Memory that was taken before: charged, without a look at what is free.
  virtual void adopt(Address address, std::uint64_t bytes) = 0;
  /// Addresses for an expandable segment; charges nothing.
  virtual Address reserve(std::uint64_t bytes) = 0;
  virtual void release_addresses(Address address, std::uint64_t bytes) = 0;
  /// Memory behind such addresses: charges, false when there is none.
  virtual bool map(std::uint64_t bytes) = 0;
  virtual void unmap(std::uint64_t bytes) = 0;
  /// cudaMemGetInfo's total.
  [[nodiscard]] virtual std::uint64_t total() const = 0;
};

/// A device with so much memory for PyTorch (`free`, of the `total` that CUDA shows), whose addresses follow a rule.
class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(std::uint64_t free, std::uint64_t total);
  SimulatedDevice(std::uint64_t free, std::uint64_t total, std::unique_ptr<address_space::AddressSpace> space);

  std::optional<Address> allocate(std::uint64_t bytes) override;
  void release(Address address, std::uint64_t bytes) override;
  Address reserve(std::uint64_t bytes) override;
  void release_addresses(Address address, std::uint64_t bytes) override;
  bool map(std::uint64_t bytes) override;
  void unmap(std::uint64_t bytes) override;
  void adopt(Address address, std::uint64_t bytes) override;
  [[nodiscard]] std::uint64_t total() const override { return total_; }
  [[nodiscard]] std::uint64_t charged() const { return charged_; }

 private:
  std::uint64_t free_, total_, charged_ = 0;
  std::unique_ptr<address_space::AddressSpace> space_;
  std::map<Address, std::uint64_t> adopted_;
  Address next_reservation_;
};

}  // namespace ullage::allocator
