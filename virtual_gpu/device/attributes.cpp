// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/attributes.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>

namespace ullage::vgpu {
namespace {

constexpr int last_known = 150;
constexpr std::uint64_t reserved_shared = 1024;  // per block, from compute capability 8.0 on

int shared_per_sm(const Profile& p) {
  return static_cast<int>(p.cc_major >= 8 ? p.shared_optin_bytes + reserved_shared : p.shared_optin_bytes);
}

// What depends on the product.
std::optional<int> product_attribute(const Profile& p, int number) {
  switch (number) {
    case 13:
      return p.clock_khz;
    case 16:
      return p.sm_count;
    case 36:
      return p.memory_clock_khz;
    case 37:
      return p.memory_bus_bits;
    case 38:
      return static_cast<int>(p.l2_bytes);
    case 39:
      return p.max_threads_per_sm;
    case 75:
      return p.cc_major;
    case 76:
      return p.cc_minor;
    case 81:
      return shared_per_sm(p);
    case 97:
      return static_cast<int>(p.shared_optin_bytes);
    case 106:
      return p.max_blocks_per_sm;
    case 108:
      return static_cast<int>(p.cc_major >= 8 ? p.l2_bytes / 4 * 3 : 0);  // persisting L2
    case 109:
      return p.cc_major >= 8 ? 128 << 20 : 0;  // access policy window
    case 111:
      return p.cc_major >= 8 ? static_cast<int>(reserved_shared) : 0;
    case 120:
      return p.cc_major >= 9;  // cluster launch
    case 127:
      return p.cc_major >= 9;  // tensor map access
    default:
      return std::nullopt;
  }
}

// What is the same on all of them.
std::optional<int> common_attribute(int number) {
  switch (number) {
    case 1:
    case 2:
    case 3:
      return 1024;
    case 4:
      return 64;
    case 5:
      return INT_MAX;
    case 6:
    case 7:
      return 65535;
    case 8:
      return 49152;
    case 9:
      return 65536;
    case 10:
      return 32;
    case 11:
      return INT_MAX;
    case 12:
    case 82:
      return 65536;
    case 14:
    case 30:
      return 512;
    case 51:
      return 32;
    case 15:
    case 19:
    case 31:
    case 41:
    case 78:
    case 79:
    case 80:
    case 83:
    case 89:
    case 90:
    case 91:
    case 95:
    case 99:
    case 102:
    case 103:
    case 112:
    case 115:
    case 122:
    case 123:
    case 125:
    case 129:
      return 1;
    case 32:
      return 1;
    case 40:
      return 3;
    case 33:
      return 1;  // PCI bus
    case 130:
    case 131:
    case 134:
      return number == 130 ? 0 : -1;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<int> attribute(const Profile& profile, int number) {
  if (number <= 0 || number > last_known) return std::nullopt;
  if (const auto value = product_attribute(profile, number)) return value;
  if (const auto value = common_attribute(number)) return value;
  // Texture and surface limits: sane for every supported card.
  if ((number >= 21 && number <= 29) || (number >= 42 && number <= 49) || (number >= 52 && number <= 77)) return 16384;
  return 0;
}

int code_architecture(const Profile& profile) {
  const int cc = profile.cc_major * 10 + profile.cc_minor;
  int best = cc;
  for (const int held : {75, 80, 86, 90, 100, 120})
    if (held <= cc && held / 10 == cc / 10) best = held;
  return best;
}

int active_blocks_per_sm(const Profile& profile, int block_size, std::size_t shared_bytes) {
  if (block_size <= 0 || block_size > 1024) return 0;
  const int threads = (block_size + 31) / 32 * 32;
  int blocks = std::min(profile.max_blocks_per_sm, profile.max_threads_per_sm / threads);
  if (shared_bytes > 0) {
    const auto available = static_cast<std::size_t>(shared_per_sm(profile));
    const auto needed = shared_bytes + (profile.cc_major >= 8 ? reserved_shared : 0);
    blocks = std::min(blocks, static_cast<int>(available / needed));
  }
  return blocks;
}

}  // namespace ullage::vgpu
