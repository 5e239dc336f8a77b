// SPDX-License-Identifier: Apache-2.0
// Tells copies to the device that bring the same bytes again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace ullage::vgpu {

class RepeatedCopies {
 public:
  /// Whether the last copy of `bytes` bytes from this line of code brought the same content. Above 64 KiB sixteen parts
  /// of 4 KiB, evenly spread, stand for all. `source` is readable host memory; an empty line is never repeated.
  bool see(const std::string& line, const void* source, std::uint64_t bytes);

 private:
  std::unordered_map<std::string, std::uint64_t> last_;  ///< line and size -> hash of the content
};

}  // namespace ullage::vgpu
