// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/repeated_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

namespace ullage::vgpu {
namespace {

constexpr std::uint64_t whole_limit = 64 << 10;
constexpr std::uint64_t part_bytes = 4 << 10;
constexpr std::uint64_t parts = 16;
constexpr std::size_t remembered = 64;  // contents of one line between two marks

std::uint64_t hash(const char* data, std::uint64_t bytes) {
  return std::hash<std::string_view>()({data, static_cast<std::size_t>(bytes)});
}

std::uint64_t hash_of_content(const char* data, std::uint64_t bytes) {
  if (bytes <= whole_limit) return hash(data, bytes);
  std::uint64_t result = 0;
  for (std::uint64_t i = 0; i < parts; ++i)
    result = result * 31 + hash(data + (bytes - part_bytes) * i / (parts - 1), part_bytes);
  return result;
}

}  // namespace

bool RepeatedCopies::see(const std::string& line, const void* source, std::uint64_t bytes) {
  if (line.empty()) return false;
  Contents& contents = contents_[line + '\n' + std::to_string(bytes)];
  if (contents.interval != interval_) {
    contents.before = std::exchange(contents.now, {});
    contents.interval = interval_;
  }
  const std::uint64_t content = hash_of_content(static_cast<const char*>(source), bytes);
  if (contents.now.size() < remembered) contents.now.push_back(content);
  return std::find(contents.before.begin(), contents.before.end(), content) != contents.before.end();
}

}  // namespace ullage::vgpu
