// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/driver/module.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <iterator>

namespace ullage::vgpu {
namespace {

// The same from compute capability 7.5 to 12.x (CUDA programming guide, "Technical Specifications per Compute
// Capability").
constexpr unsigned registers_per_sm = 65536;
constexpr unsigned warp = 32;
constexpr unsigned registers_per_warp_unit = 256;  // a warp's registers are given out in such units
constexpr unsigned threads_per_block = 1024;

unsigned registers_of_a_warp(const KernelResources& resources) {
  const unsigned wanted = std::max(resources.registers, 1u) * warp;
  return (wanted + registers_per_warp_unit - 1) / registers_per_warp_unit * registers_per_warp_unit;
}

}  // namespace

Function* Module::function(const char* name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto parameters = parameters_.find(name);
  if (parameters == parameters_.end() && !parameters_.empty()) return nullptr;
  const auto [it, made] = functions_.try_emplace(name);
  Function& function = it->second;
  if (!made) return &function;
  function.name = it->first.c_str();
  if (parameters != parameters_.end()) function.take_parameters(parameters->second);
  if (const auto found = resources_.find(name); found != resources_.end()) function.resources = found->second;
  return &function;
}

std::vector<std::byte> file_bytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

int largest_block(const KernelResources& resources) {
  const unsigned warps = registers_per_sm / registers_of_a_warp(resources);
  return static_cast<int>(std::min(warps * warp, threads_per_block));
}

int blocks_by_registers(const KernelResources& resources, int block_size) {
  if (block_size <= 0) return INT_MAX;
  const unsigned warps = (static_cast<unsigned>(block_size) + warp - 1) / warp;
  return static_cast<int>(registers_per_sm / (registers_of_a_warp(resources) * warps));
}

}  // namespace ullage::vgpu
