// SPDX-License-Identifier: Apache-2.0
// What a stand-in library has to know about the GPU it imitates: plain numbers, filled from the hardware catalogue.
#pragma once

#include <cstdint>
#include <string>

namespace ullage::vgpu {

enum class AddressRule { native_linux, wsl };

struct Profile {
  std::string name = "NVIDIA A100-SXM4-40GB";  ///< as cudaGetDeviceProperties spells it
  std::string short_name = "a100-40gb";
  int cc_major = 8;
  int cc_minor = 0;
  int sm_count = 108;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  std::uint64_t shared_optin_bytes = 166912;  ///< shared memory per block, opt-in
  std::uint64_t l2_bytes = 40ull << 20;
  std::uint64_t total_bytes = 42'298'834'944;  ///< what CUDA shows as the capacity
  std::uint64_t context_bytes = 450ull << 20;  ///< taken off it by the context; estimated
  double memory_bandwidth = 1.5e12;            ///< bytes per second
  double fp16_flops = 312e12;                  ///< dense matrix peak, FLOP/s
  double tf32_flops = 156e12;
  double fp32_flops = 19.5e12;
  double pcie_bandwidth = 25e9;  ///< bytes per second, one direction
  int clock_khz = 1410000;
  int memory_clock_khz = 1215000;
  int memory_bus_bits = 5120;
  AddressRule address_rule = AddressRule::native_linux;
  std::uint64_t wsl_held_bytes = 80ull << 20;    ///< H of the WDDM rule
  std::uint64_t wsl_module_bytes = 98ull << 20;  ///< G of the WDDM rule
  bool unlimited = false;  ///< charge everything, refuse nothing; the reported total stays the card's
};

/// Reads "key=value;key=value;...", the form in which the launcher hands a profile to the stand-ins (the environment
/// variable ULLAGE_VGPU_PROFILE). Keys are the member names; what is missing keeps its default, what is unknown is
/// skipped.
Profile parse_profile(const std::string& text);

}  // namespace ullage::vgpu
