// SPDX-License-Identifier: Apache-2.0
// Tells copies to the device that bring the same bytes again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ullage::vgpu {

class RepeatedCopies {
 public:
  /// Whether this line of code brought the same content, of so many bytes, between the marks between which it last
  /// copied. Above 64 KiB sixteen parts of 4 KiB, evenly spread, stand for all. `source` is readable host memory; an
  /// empty line is never repeated.
  bool see(const std::string& line, const void* source, std::uint64_t bytes);
  /// A mark: what was copied since the last one is what later copies are compared with.
  void mark() { ++interval_; }

 private:
  struct Contents {
    std::uint64_t interval = 0;
    std::vector<std::uint64_t> now, before;  ///< hashes, of this interval and of the last one with a copy
  };
  std::unordered_map<std::string, Contents> contents_;  ///< by line and size
  std::uint64_t interval_ = 0;
};

}  // namespace ullage::vgpu
