// SPDX-License-Identifier: Apache-2.0
#include "ledger/verdict.hpp"

#include "base/bytes.hpp"

#include <limits>

namespace ullage::ledger {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::fits:
      return "fits";
    case Verdict::tight:
      return "tight";
    case Verdict::oom:
      return "oom";
  }
  return "";
}

Headroom judge(std::uint64_t capacity_bytes, std::uint64_t used_peak_bytes, double headroom_fraction,
               std::uint64_t reserve_bytes) {
  const std::uint64_t usable = capacity_bytes > reserve_bytes ? capacity_bytes - reserve_bytes : 0;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t unkept = reserve_bytes > capacity_bytes ? reserve_bytes - capacity_bytes : 0;
  Headroom result;
  if (used_peak_bytes > usable || unkept > 0) {
    result.verdict = Verdict::oom;
    result.missing_bytes = checked_add(used_peak_bytes - usable, unkept).value_or(most);
    return result;
  }
  result.left_bytes = usable - used_peak_bytes;
  if (capacity_bytes > 0)
    result.fraction = static_cast<double>(result.left_bytes) / static_cast<double>(capacity_bytes);
  if (result.fraction < headroom_fraction) result.verdict = Verdict::tight;
  return result;
}

}  // namespace ullage::ledger
