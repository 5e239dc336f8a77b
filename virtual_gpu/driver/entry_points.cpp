// SPDX-License-Identifier: Apache-2.0
// Looking functions up by name, and the refusal of undocumented tables.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "virtual_gpu/driver/driver.hpp"

namespace ullage::vgpu {
namespace {

void* own_library() {
  static void* handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return handle;
}

/// A base name means the newest version of the function that the asked CUDA version has.
void* find_function(const char* name, int version) {
  const int newest = version >= 13000 ? 4 : version >= 12000 ? 3 : 2;
  for (int i = newest; i >= 2; --i)
    if (void* found = dlsym(own_library(), (std::string(name) + "_v" + std::to_string(i)).c_str())) return found;
  return dlsym(own_library(), name);
}

// Asked for by a CUDA runtime that is linked statically into a program, or by a real one beside this driver.
constexpr unsigned char integrity_check[16] = {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b,
                                               0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2};
constexpr unsigned char runtime_interface[16] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                                 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

bool asked_by_a_runtime(const void* id) {
  return std::memcmp(id, integrity_check, 16) == 0 || std::memcmp(id, runtime_interface, 16) == 0;
}

void note_in_run_directory(const char* library) {
  const char* directory = std::getenv("ULLAGE_VGPU_RUN");
  if (!directory || !*directory) return;
  if (std::FILE* file = std::fopen((std::string(directory) + "/static_runtime").c_str(), "a")) {
    std::fprintf(file, "%s\n", library);
    std::fclose(file);
  }
}

void explain_static_runtime(const void* caller) {
  static bool explained = false;
  if (std::exchange(explained, true)) return;
  Dl_info info{};
  const char* library = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "a library";
  note_in_run_directory(library);
  std::fprintf(stderr,
               "ullage: %s carries a statically linked CUDA runtime, or is a real libcudart that was loaded instead of "
               "the stand-in.\nullage: such a runtime only works with NVIDIA's own driver; this program cannot be "
               "rehearsed with it.\n",
               library);
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long, int* found) {
  *function = find_function(name, version);
  if (found) *found = *function ? 0 : 1;
  return *function ? cu_success : cu_not_found;
}

int cuGetProcAddress(const char* name, void** function, int version, unsigned long long flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

int cuGetExportTable(const void** table, const void* id) {
  *table = nullptr;
  if (asked_by_a_runtime(id)) explain_static_runtime(__builtin_return_address(0));
  return cu_not_supported;
}

}  // extern "C"
