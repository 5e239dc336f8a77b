// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "virtual_gpu/device/local_machine.hpp"

namespace ullage::vgpu::test {

constexpr std::uint64_t MiB = 1ull << 20;
constexpr std::uint64_t GiB = 1ull << 30;

constexpr std::uint64_t window = 64 * GiB;  // 128 GiB are charged at most

/// ThreadSanitizer leaves little address space free, at the bottom. Two machines may live at a time.
inline std::uint64_t next_base() {
#if defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t first = 64 * GiB;
#else
  constexpr std::uint64_t first = 0x2000'0000'0000;
#endif
  static int count = 0;
  return first + static_cast<std::uint64_t>(++count % 2) * 2 * window;
}

inline Profile small_profile() {
  Profile profile;
  profile.total_bytes = 8 * GiB;
  profile.context_bytes = 512 * MiB;
  return profile;
}

inline MachineOptions options(Profile profile = small_profile()) {
  MachineOptions made;
  made.profile = std::move(profile);
  made.base = next_base();
  made.window = window;
  return made;
}

}  // namespace ullage::vgpu::test
