// SPDX-License-Identifier: Apache-2.0
// What the generated stubs of every stand-in library call.
#include "virtual_gpu/device/machine.hpp"

extern "C" void ullage_count_stub(const char* library, const char* function) {
  ullage_machine()->count_stub(library, function);
}

extern "C" void* ullage_fresh_handle() {
  return reinterpret_cast<void*>(ullage_machine()->new_handle());
}
