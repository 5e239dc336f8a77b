// SPDX-License-Identifier: Apache-2.0
// A GPU of the catalogue as a device that memory is planned for.
#pragma once

#include "base/result.hpp"
#include "hardware/catalogue.hpp"
#include "report/run_result.hpp"

#include <cstdint>

namespace ullage::cli {

/// What the context takes of the device, for the CUDA major that the stand-ins serve.
[[nodiscard]] const Quantity& context_of(const Gpu& gpu);
[[nodiscard]] std::uint64_t context_bytes(const Gpu& gpu);

/// Errors: `usage` for a capacity (--memory) that the context alone would fill.
[[nodiscard]] Result<void> check_capacity(const Gpu& gpu, std::uint64_t capacity_bytes);

/// The device as results show it.
[[nodiscard]] report::DeviceInfo device_info(const Gpu& gpu, std::uint64_t capacity_bytes);

}  // namespace ullage::cli
