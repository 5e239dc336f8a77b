// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library, loaded at run time: the few functions that an inventory needs. Their types are public
// facts of the ABI, declared here, so that building needs no NVIDIA package.
#pragma once

#include "base/result.hpp"

namespace ullage::inventory {

struct NvmlMemory {
  unsigned long long total, free, used;  ///< bytes
};

struct NvmlLibrary {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_version)(int*) = nullptr;  ///< 1000 x major + 10 x minor
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, void**) = nullptr;
  int (*name)(void*, char*, unsigned) = nullptr;
  int (*uuid)(void*, char*, unsigned) = nullptr;
  int (*memory)(void*, NvmlMemory*) = nullptr;
  int (*compute_capability)(void*, int*, int*) = nullptr;
  int (*mig_mode)(void*, unsigned*, unsigned*) = nullptr;  ///< may be null: older drivers have no such function
};

/// The library, loaded once. Errors: `unsupported` when this machine has none, or one that lacks a function.
[[nodiscard]] Result<const NvmlLibrary*> nvml_library();

}  // namespace ullage::inventory
