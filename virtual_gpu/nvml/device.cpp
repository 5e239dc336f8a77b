// SPDX-License-Identifier: Apache-2.0
// NVML: what the device says about itself. Memory is the account that the runtime uses too.
#include <unistd.h>

#include <cstring>

#include "virtual_gpu/nvml/nvml.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::nvml;

namespace {

struct Memory {
  unsigned long long total, free, used;
};
static_assert(sizeof(Memory) == 24);

struct MemoryV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(MemoryV2) == 40);

struct Utilization {
  unsigned gpu, memory;
};
static_assert(sizeof(Utilization) == 8);

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct ProcessV1 {
  unsigned pid;
  unsigned long long used;
};
static_assert(sizeof(ProcessV1) == 16);

struct ProcessV2 {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessV2) == 24);

constexpr unsigned no_instance = 0xffffffffu;

/// Architecture numbers grow with the compute capability: Turing 6, Ampere 7, Ada 8, Hopper 9, Blackwell 10.
unsigned architecture(const Profile& profile) {
  if (profile.cc_major >= 10) return 10;
  if (profile.cc_major == 9) return 9;
  if (profile.cc_major == 8) return profile.cc_minor == 9 ? 8 : 7;
  return profile.cc_minor == 5 ? 6 : 5;
}

unsigned clock_mhz(unsigned type) {
  const Profile& profile = ullage_machine()->profile();
  return static_cast<unsigned>((type == 2 ? profile.memory_clock_khz : profile.clock_khz) / 1000);
}

ProcessV1 process_v1(unsigned pid, std::uint64_t used) {
  return {pid, used};
}
ProcessV2 process_v2(unsigned pid, std::uint64_t used) {
  return {pid, used, no_instance, no_instance};
}

/// This process alone; with no room the needed count goes back.
template <class T>
int processes(const void* device, unsigned* count, T* out, T (*make)(unsigned, std::uint64_t)) {
  const int result = check(device);
  if (result != success) return result;
  if (count == nullptr) return invalid_argument;
  const unsigned room = *count;
  *count = 1;
  if (room < 1) return insufficient_size;
  if (out == nullptr) return invalid_argument;
  *out = make(static_cast<unsigned>(getpid()), ullage_machine()->memory_info().used_bytes);
  return success;
}

int pci(const void* device, PciInfo* out) {
  PciInfo info{};
  std::memcpy(info.legacy_bus_id, pci_bus_id + 4, sizeof pci_bus_id - 4);
  std::memcpy(info.bus_id, pci_bus_id, sizeof pci_bus_id);
  info.bus = 1;
  return write_value(device, out, info);
}

int no_links(const void* device) {
  const int result = check(device);
  return result == success ? not_supported : result;
}

}  // namespace

extern "C" {

int nvmlDeviceGetName(void* device, char* out, unsigned length) {
  const int result = check(device);
  return result == success ? write_text(ullage_machine()->profile().name, out, length) : result;
}

int nvmlDeviceGetUUID(void* device, char* out, unsigned length) {
  const int result = check(device);
  return result == success ? write_text(uuid, out, length) : result;
}

int nvmlDeviceGetIndex(void* device, unsigned* out) {
  return write_value(device, out, 0u);
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* out) {
  return write_value(device, out, 0u);
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* out) {
  const MemoryInfo info = ullage_machine()->memory_info();
  return write_value(device, out, Memory{info.total_bytes, info.free_bytes, info.used_bytes});
}

int nvmlDeviceGetMemoryInfo_v2(void* device, MemoryV2* out) {
  const MemoryInfo info = ullage_machine()->memory_info();
  const unsigned version = out != nullptr ? out->version : 0;
  return write_value(device, out, MemoryV2{version, info.total_bytes, 0, info.free_bytes, info.used_bytes});
}

int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  const Profile& profile = ullage_machine()->profile();
  const int result = write_value(device, major, profile.cc_major);
  return result == success ? write_value(device, minor, profile.cc_minor) : result;
}

int nvmlDeviceGetArchitecture(void* device, unsigned* out) {
  return write_value(device, out, architecture(ullage_machine()->profile()));
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* out) {
  return write_value(device, out, {0, 0});
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* out) {
  return write_value(device, out, 100000u);
}
int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* out) {
  return write_value(device, out, 400000u);
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* out) {
  return write_value(device, out, 400000u);
}
int nvmlDeviceGetTemperature(void* device, int /*sensor*/, unsigned* out) {
  return write_value(device, out, 40u);
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* out) {
  return write_value(device, out, clock_mhz(type));
}
int nvmlDeviceGetMaxClockInfo(void* device, unsigned type, unsigned* out) {
  return write_value(device, out, clock_mhz(type));
}
int nvmlDeviceGetPerformanceState(void* device, int* out) {
  return write_value(device, out, 0);
}
int nvmlDeviceGetComputeMode(void* device, int* out) {
  return write_value(device, out, 0);
}
int nvmlDeviceGetPersistenceMode(void* device, int* out) {
  return write_value(device, out, 1);
}
int nvmlDeviceGetMemoryBusWidth(void* device, unsigned* out) {
  return write_value(device, out, static_cast<unsigned>(ullage_machine()->profile().memory_bus_bits));
}

int nvmlDeviceGetPciInfo(void* device, PciInfo* out) {
  return pci(device, out);
}
int nvmlDeviceGetPciInfo_v2(void* device, PciInfo* out) {
  return pci(device, out);
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* out) {
  return pci(device, out);
}

int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, ProcessV1* out) {
  return processes(device, count, out, process_v1);
}
int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count, ProcessV2* out) {
  return processes(device, count, out, process_v2);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessV2* out) {
  return processes(device, count, out, process_v2);
}

int nvmlDeviceGetNvLinkState(void* device, unsigned /*link*/, int* /*active*/) {
  return no_links(device);
}
int nvmlDeviceGetNvLinkVersion(void* device, unsigned, unsigned*) {
  return no_links(device);
}
int nvmlDeviceGetNvLinkCapability(void* device, unsigned, int, unsigned*) {
  return no_links(device);
}
int nvmlDeviceGetGpuFabricInfo(void* device, void*) {
  return no_links(device);
}
int nvmlDeviceGetGpuFabricInfoV(void* device, void*) {
  return no_links(device);
}

int nvmlDeviceGetP2PStatus(void* first, void* second, int /*index*/, int* status) {
  const int result = check(second);
  return result == success ? write_value(first, status, 0) : result;
}

}  // extern "C"
