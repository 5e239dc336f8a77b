// SPDX-License-Identifier: Apache-2.0
// The machine of this process, with what only the driver stand-in and the hook use.
#pragma once

#include "virtual_gpu/device/local_machine.hpp"

namespace ullage::vgpu {

/// Made at the first call from ULLAGE_VGPU_PROFILE, ULLAGE_VGPU_RUN and ULLAGE_VGPU_LOG; never destroyed.
LocalMachine& local_machine();

}  // namespace ullage::vgpu
