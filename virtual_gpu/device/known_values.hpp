// SPDX-License-Identifier: Apache-2.0
// Which device bytes hold a value that was really computed: small copies, fills and memsets. Everything else is
// unknown.
#pragma once

#include <cstdint>
#include <map>

namespace ullage::vgpu {

/// A set of byte ranges. Its size depends on the number of small writes, never on device bytes.
class KnownValues {
 public:
  void set_known(std::uint64_t start, std::uint64_t bytes);
  void set_unknown(std::uint64_t start, std::uint64_t bytes);
  bool is_known(std::uint64_t start, std::uint64_t bytes) const;
  /// The bytes from `address` to the end of the known range that holds it become unknown: something was written there.
  void forget(std::uint64_t address);
  void clear() { ranges_.clear(); }
  bool empty() const { return ranges_.empty(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // start -> end, disjoint, not touching
};

}  // namespace ullage::vgpu
