// SPDX-License-Identifier: Apache-2.0
// What NVML's functions share: results, the one device, and answers in the caller's buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu::nvml {

enum Result : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  not_found = 6,
  insufficient_size = 7
};

inline constexpr char uuid[] = "GPU-756c6c61-6765-2d76-6972-7475616c2d30";  // the driver's UUID, spelled out
inline constexpr char pci_bus_id[] = "00000000:01:00.0";

bool initialised();

/// The handle of the only device.
void* device_handle();

/// success when the library is initialised and `device` is the device.
int check(const void* device);

int write_text(const std::string& text, char* out, unsigned length);

template <class T>
int write_value(const void* device, T* out, T value) {
  const int result = check(device);
  if (result != success) return result;
  if (out == nullptr) return invalid_argument;
  *out = value;
  return success;
}

}  // namespace ullage::vgpu::nvml
