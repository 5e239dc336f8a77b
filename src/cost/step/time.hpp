// SPDX-License-Identifier: Apache-2.0
// How long a step takes on one GPU: a roofline of every operator, with an interval, and what bounds it.
#pragma once

#include "cost/step/work.hpp"
#include "hardware/rates.hpp"
#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

namespace ullage::cost {

/// low <= value <= high, in seconds.
struct SecondsRange {
  double low = 0, value = 0, high = 0;
};

/// What a GPU is asked for.
struct DeviceRates {
  Rate half, tf32, fp32;  ///< FLOP/s of matrix products
  Rate memory;            ///< bytes/s
  double multiprocessors = 0;
  bool half_is_emulated = false;  ///< no units for the 16-bit type: computed at the fp32 rate
};

/// Rates of a GPU; `half` is the 16-bit type in use, bf16 or fp16. A type without units of its own has the fp32 rate.
/// Errors: no fp32 rate, or no memory bandwidth, is known.
[[nodiscard]] tl::expected<DeviceRates, NoRate> device_rates(const Gpu& gpu, ComputePrecision half);

/// compute, memory bandwidth or launches: what keeps a step from being faster.
enum class Bound : std::uint8_t { compute, memory, launch };
inline constexpr std::array bounds{Bound::compute, Bound::memory, Bound::launch};
[[nodiscard]] std::string_view name_of(Bound bound);

struct StepTime {
  SecondsRange step;  ///< of each pass the longer of its operators' sum and the host's launches
  /// Of `step.value`: operators bound by their FLOPs, by their bytes; gaps between kernels and waits for the host.
  std::array<double, bounds.size()> seconds_by_bound{};
  std::array<double, passes.size()> seconds_by_pass{};  ///< of `step.value`
  /// On the device, without waits for the host.
  std::array<double, operator_classes.size()> seconds_by_work{};
  std::uint64_t launches = 0;
  double peak_flops = 0;  ///< FLOP/s of the type that most FLOPs are done in

  [[nodiscard]] double seconds(Bound bound) const { return seconds_by_bound[static_cast<std::size_t>(bound)]; }
  [[nodiscard]] double seconds(Pass pass) const { return seconds_by_pass[static_cast<std::size_t>(pass)]; }
  [[nodiscard]] double seconds(OperatorWork work) const { return seconds_by_work[static_cast<std::size_t>(work)]; }
  [[nodiscard]] Bound bound_by() const;
};

/// One operator on the device, the gaps around its kernels included.
struct OperatorTime {
  SecondsRange seconds;
  Bound bound = Bound::memory;  ///< of what it does, gaps apart
  double gap_seconds = 0;       ///< of seconds.value
};
[[nodiscard]] OperatorTime operator_time(const program::Operator& op, const DeviceRates& rates);

/// Without `step` the last one. O(operators).
[[nodiscard]] StepTime step_time(const program::Program& program, const DeviceRates& rates,
                                 std::optional<std::uint32_t> step = std::nullopt);

}  // namespace ullage::cost
