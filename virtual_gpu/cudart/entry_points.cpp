// SPDX-License-Identifier: Apache-2.0
// Driver functions by name.
#include "virtual_gpu/cudart/cudart.hpp"

extern "C" {
int cuGetProcAddress_v2(const char*, void**, int, unsigned long long, int*);

int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags,
                                     int* found) {
  const int code = cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, nullptr);
  if (found) *found = code == 0 ? 0 : 1;
  return 0;
}

int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* found) {
  return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, found);
}

int cudaGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return ullage::vgpu::last_error(ullage::vgpu::rt_not_supported);
}

}  // extern "C"
