// SPDX-License-Identifier: Apache-2.0
// Makes the machine of this process from the environment that the launcher prepared.
#include "virtual_gpu/driver/environment.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace ullage::vgpu {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

MachineOptions options_from_environment() {
  MachineOptions options;
  options.profile = parse_profile(variable("ULLAGE_VGPU_PROFILE"));
  if (variable("ULLAGE_VGPU_LOG") != "0") options.run_directory = variable("ULLAGE_VGPU_RUN");
  return options;
}

LocalMachine* make_machine() {
  // Never destroyed: other libraries use it in their own destructors.
  alignas(LocalMachine) static unsigned char storage[sizeof(LocalMachine)];
  auto* made = new (storage) LocalMachine(options_from_environment());
  std::atexit([] { local_machine().flush_log(); });
  pthread_atfork(nullptr, nullptr, [] { local_machine().after_fork(); });
  return made;
}

}  // namespace

LocalMachine& local_machine() {
  static LocalMachine* const made = make_machine();
  return *made;
}

}  // namespace ullage::vgpu

extern "C" ullage::vgpu::Machine* ullage_machine() {
  return &ullage::vgpu::local_machine();
}
