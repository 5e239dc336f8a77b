// SPDX-License-Identifier: Apache-2.0
// How fast a GPU computes and moves bytes at best, for whoever estimates times: numbers with their range, or why there
// is none.
#pragma once

#include "hardware/catalogue.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ullage {

/// What a multiplication takes. fp32 and fp64 are vector rates; the others are of the matrix units.
enum class ComputePrecision : std::uint8_t { fp64, fp32, tf32, bf16, fp16, fp8 };

/// All precisions, the widest first.
[[nodiscard]] std::span<const ComputePrecision> compute_precisions();
/// fp64, fp32, tf32 ...
[[nodiscard]] std::string_view name_of(ComputePrecision precision);
/// The quantity of the catalogue that has its rate.
[[nodiscard]] Fact fact_of(ComputePrecision precision);

/// A rate and the range that it lies in: low <= value <= high, all above 0.
struct Rate {
  double low;
  double value;
  double high;
};

/// Why there is no rate.
struct NoRate {
  enum class Kind : std::uint8_t {
    not_in_hardware,  ///< the GPU has no such units, or no such link
    not_known,        ///< it may have; nobody said how fast
  };
  Kind kind;
  std::string reason;  ///< a sentence without a full stop
};

using KnownRate = tl::expected<Rate, NoRate>;

/// Peak in FLOP/s, a multiplication and an addition counted as two. Always dense: vendors' figures "with sparsity" are
/// twice as high. Matrix units accumulate in fp32.
[[nodiscard]] KnownRate compute_rate(const Gpu& gpu, ComputePrecision precision);
/// Bytes per second between the multiprocessors and the GPU's memory.
[[nodiscard]] KnownRate memory_rate(const Gpu& gpu);
/// Bytes per second between host and GPU, one direction.
[[nodiscard]] KnownRate host_link_rate(const Gpu& gpu);
/// Bytes per second from a GPU to its peers over NVLink, one direction, all links together.
[[nodiscard]] KnownRate gpu_link_rate(const Gpu& gpu);

/// The rate that a fact tells. Of a fact that is no rate the value is what it is.
[[nodiscard]] KnownRate rate_of(const Gpu& gpu, Fact fact);
/// The facts that are rates: compute, memory, links.
[[nodiscard]] std::span<const Fact> rate_facts();

/// The most FLOP/s that `sm_count` multiprocessors at `clock` Hz can do in fp16 or bf16 without sparsity, by the best
/// GPU of the catalogue of the nearest compute capability. What is well above it is a figure with sparsity. 0 when the
/// major version is not known.
[[nodiscard]] double dense_limit(int cc_major, int cc_minor, double sm_count, double clock);

}  // namespace ullage
