// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/attributes.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <iterator>

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

struct Common {
  int number;
  int value;
};

// What is the same on all of them; yes-or-no abilities are in `abilities`.
constexpr Common common[] = {
    {1, 1024},                                // threads per block
    {2, 1024},                                // block x, y, z
    {3, 1024},     {4, 64},    {5, INT_MAX},  // grid x, y, z
    {6, 65535},    {7, 65535}, {8, 49152},    // static shared memory per block
    {9, 65536},                               // constant memory
    {10, 32},                                 // warp
    {11, INT_MAX},                            // pitch
    {12, 65536},                              // registers per block
    {14, 512},                                // texture alignment
    {30, 512},                                // surface alignment
    {33, 1},                                  // PCI bus
    {40, 3},                                  // copy engines
    {51, 32},                                 // texture pitch alignment
    {82, 65536},                              // registers per multiprocessor
    {131, -1},                                // NUMA node of the device and of its host: none
    {134, -1},
};

constexpr int abilities[] = {15, 19, 31, 32,  41,  78,  79,  80,  83,  89,  90,
                             91, 95, 99, 102, 103, 112, 115, 122, 123, 125, 129};

std::optional<int> common_attribute(int number) {
  for (const auto& row : common)
    if (row.number == number) return row.value;
  if (std::find(std::begin(abilities), std::end(abilities), number) != std::end(abilities)) return 1;
  return std::nullopt;
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
