// SPDX-License-Identifier: Apache-2.0
// What the files of the runtime stand-in share. It is a thin layer over the driver stand-in, which holds all state.
#pragma once

#include <cstddef>
#include <cstdint>

#include "virtual_gpu/device/handles.hpp"
#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

// cudaError values that differ from the driver's, or that only the runtime gives.
enum Rt : int {
  rt_success = 0,
  rt_invalid_value = 1,
  rt_memory_allocation = 2,
  rt_invalid_device_function = 98,
  rt_invalid_device = 101,
  rt_host_already_registered = 712,
  rt_host_not_registered = 713,
  rt_not_supported = 801,
};

/// Remembers an error as the last one of this thread and returns it. "Not ready" counts too, as in the real runtime.
int last_error(int code);

/// The runtime's code for a status, remembered when it is an error.
int rt(Status status);

}  // namespace ullage::vgpu
