// SPDX-License-Identifier: Apache-2.0
// What the files of the driver stand-in share: result codes, handles, and the machine behind them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "virtual_gpu/device/handles.hpp"
#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

// CUresult values.
enum Cu : int {
  cu_success = 0,
  cu_invalid_value = 1,
  cu_out_of_memory = 2,
  cu_not_initialized = 3,
  cu_invalid_device = 101,
  cu_invalid_context = 201,
  cu_already_mapped = 208,
  cu_file_not_found = 301,
  cu_invalid_handle = 400,
  cu_not_found = 500,
  cu_not_ready = 600,
  cu_host_already_registered = 712,
  cu_host_not_registered = 713,
  cu_not_supported = 801,
  cu_capture_unsupported = 900,
  cu_capture_invalidated = 901,
  cu_capture_unjoined = 904,
  cu_capture_implicit = 906,
};

int to_cu(Status status);

/// The one context of the one device.
void* primary_context();

}  // namespace ullage::vgpu
