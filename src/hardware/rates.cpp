// SPDX-License-Identifier: Apache-2.0
#include "hardware/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace ullage {
namespace {

struct Row {
  ComputePrecision precision;
  std::string_view name;
  Fact fact;
  int since_major, since_minor;  ///< the first compute capability that has it in hardware
};

// Of the CUDA C++ Programming Guide, "Compute Capabilities".
constexpr std::array rows{
    Row{ComputePrecision::fp64, "fp64", Fact::fp64_peak, 1, 3},
    Row{ComputePrecision::fp32, "fp32", Fact::fp32_peak, 1, 0},
    Row{ComputePrecision::tf32, "tf32", Fact::tf32_peak, 8, 0},
    Row{ComputePrecision::bf16, "bf16", Fact::bf16_peak, 8, 0},
    Row{ComputePrecision::fp16, "fp16", Fact::fp16_peak, 7, 0},
    Row{ComputePrecision::fp8, "fp8", Fact::fp8_peak, 8, 9},
};

constexpr std::array list{ComputePrecision::fp64, ComputePrecision::fp32, ComputePrecision::tf32,
                          ComputePrecision::bf16, ComputePrecision::fp16, ComputePrecision::fp8};

constexpr std::array facts_that_are_rates{Fact::memory_bandwidth, Fact::fp64_peak,      Fact::fp32_peak,
                                          Fact::tf32_peak,        Fact::fp16_peak,      Fact::bf16_peak,
                                          Fact::fp8_peak,         Fact::pcie_bandwidth, Fact::nvlink_bandwidth};

const Row& row_of(ComputePrecision precision) {
  return rows[static_cast<std::size_t>(precision)];
}

NoRate no_units(const Gpu& gpu, const Row& row) {
  return {NoRate::Kind::not_in_hardware,
          fmt::format("compute capability {}.{} has no {} units: they came with {}.{}", gpu.cc_major, gpu.cc_minor,
                      row.name, row.since_major, row.since_minor)};
}

NoRate why_absent(const Gpu& gpu, Fact fact) {
  for (const Row& row : rows)
    if (row.fact == fact && std::pair(gpu.cc_major, gpu.cc_minor) < std::pair(row.since_major, row.since_minor))
      return no_units(gpu, row);
  if (fact == Fact::nvlink_bandwidth && gpu.gpu_link.starts_with("none"))
    return {NoRate::Kind::not_in_hardware, "no NVLink: what GPUs exchange goes over the host link"};
  return {NoRate::Kind::not_known, "no source for it"};
}

double per_multiprocessor_and_clock(const Gpu& gpu) {
  return gpu.value(Fact::fp16_peak) / (gpu.value(Fact::sm_count) * gpu.value(Fact::sm_clock));
}

}  // namespace

std::span<const ComputePrecision> compute_precisions() {
  return list;
}

std::string_view name_of(ComputePrecision precision) {
  return row_of(precision).name;
}

Fact fact_of(ComputePrecision precision) {
  return row_of(precision).fact;
}

std::span<const Fact> rate_facts() {
  return facts_that_are_rates;
}

KnownRate rate_of(const Gpu& gpu, Fact fact) {
  const Quantity* quantity = gpu.find(fact);
  if (quantity == nullptr) return tl::unexpected(why_absent(gpu, fact));
  return Rate{quantity->low, quantity->value, quantity->high};
}

KnownRate compute_rate(const Gpu& gpu, ComputePrecision precision) {
  return rate_of(gpu, fact_of(precision));
}

KnownRate memory_rate(const Gpu& gpu) {
  return rate_of(gpu, Fact::memory_bandwidth);
}

KnownRate host_link_rate(const Gpu& gpu) {
  return rate_of(gpu, Fact::pcie_bandwidth);
}

KnownRate gpu_link_rate(const Gpu& gpu) {
  return rate_of(gpu, Fact::nvlink_bandwidth);
}

double dense_limit(int cc_major, int cc_minor, double sm_count, double clock) {
  int nearest = -1;
  double most = 0;
  for (const Gpu& gpu : gpus()) {
    if (gpu.cc_major != cc_major) continue;
    const int distance = std::abs(gpu.cc_minor - cc_minor);
    if (nearest >= 0 && distance > nearest) continue;
    most = distance == nearest ? std::max(most, per_multiprocessor_and_clock(gpu)) : per_multiprocessor_and_clock(gpu);
    nearest = distance;
  }
  return most * sm_count * clock;
}

}  // namespace ullage
