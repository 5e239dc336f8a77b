// SPDX-License-Identifier: Apache-2.0
// The NVIDIA GPUs of this machine, as its driver tells.
#pragma once

#include "base/result.hpp"
#include "inventory/nvml_library.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ullage::inventory {

/// One GPU; what the driver does not tell is absent.
struct InstalledGpu {
  unsigned index = 0;  ///< NVML's order, that of the PCI bus
  std::string name;
  std::string uuid;
  std::uint64_t memory_bytes = 0;  ///< all of it; CUDA shows less, without what the driver keeps
  std::uint64_t used_bytes = 0;    ///< by all processes and the driver
  std::optional<std::pair<int, int>> compute_capability;
  bool mig = false;   ///< cut into instances, which a process sees instead of the whole
  std::string error;  ///< why something is missing; empty where all is there
};

struct InstalledGpus {
  std::string driver;  ///< 580.65.06; empty when not told
  std::string cuda;    ///< the newest that the driver serves: 13.0
  std::vector<InstalledGpu> gpus;
};

/// Errors: `unsupported` where the library does not start, as without a driver in the kernel.
[[nodiscard]] Result<InstalledGpus> installed_gpus(const NvmlLibrary& nvml);

/// The same through the machine's own library. Errors: also those of nvml_library().
[[nodiscard]] Result<InstalledGpus> installed_gpus();

}  // namespace ullage::inventory
