// SPDX-License-Identifier: Apache-2.0
// This machine as `ullage gpus --here` shows it.
#pragma once

#include "base/result.hpp"
#include "inventory/host.hpp"
#include "inventory/nvml.hpp"

#include <string>

namespace ullage::cli {

/// What was found; each part that could not be read says why.
struct Machine {
  Result<inventory::InstalledGpus> gpus;
  inventory::Processor processor;
  Result<inventory::HostMemory> memory;
  Result<inventory::Disk> disk;  ///< of the working directory
};

[[nodiscard]] Machine this_machine();

[[nodiscard]] std::string machine_text(const Machine& machine);
[[nodiscard]] std::string machine_json(const Machine& machine);

}  // namespace ullage::cli
