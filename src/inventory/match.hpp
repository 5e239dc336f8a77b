// SPDX-License-Identifier: Apache-2.0
// Which GPU of the catalogue an installed one is.
#pragma once

#include "hardware/catalogue.hpp"
#include "inventory/nvml.hpp"

#include <string>

namespace ullage::inventory {

struct Match {
  const Gpu* gpu = nullptr;  ///< null when nothing in the catalogue comes near
  bool exact = false;        ///< name and memory agree
  std::string difference;    ///< of the nearest one: what does not agree
};

/// The GPU with the same CUDA name and, among several, the nearest memory; it is exact when the memory agrees within
/// what drivers keep for themselves. Without the name the nearest by memory among those of the same compute capability.
[[nodiscard]] Match match(const InstalledGpu& installed);

}  // namespace ullage::inventory
