// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/repeated_copies.hpp"

#include <cstddef>
#include <functional>
#include <string_view>

namespace ullage::vgpu {
namespace {

constexpr std::uint64_t whole_limit = 64 << 10;
constexpr std::uint64_t part_bytes = 4 << 10;
constexpr std::uint64_t parts = 16;

std::uint64_t hash(const char* data, std::uint64_t bytes) {
  return std::hash<std::string_view>()({data, static_cast<std::size_t>(bytes)});
}

std::uint64_t hash_of_content(const char* data, std::uint64_t bytes) {
  if (bytes <= whole_limit) return hash(data, bytes);
  std::uint64_t result = 0;
  for (std::uint64_t i = 0; i < parts; ++i)
    result = result * 31 + hash(data + (bytes - part_bytes) / (parts - 1) * i, part_bytes);
  return result;
}

}  // namespace

bool RepeatedCopies::see(const std::string& line, const void* source, std::uint64_t bytes) {
  if (line.empty()) return false;
  const std::uint64_t content = hash_of_content(static_cast<const char*>(source), bytes);
  const auto [entry, is_new] = last_.try_emplace(line + '\n' + std::to_string(bytes), content);
  if (is_new || entry->second == content) return !is_new;
  entry->second = content;
  return false;
}

}  // namespace ullage::vgpu
