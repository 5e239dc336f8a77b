// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/recording/utilisation.hpp"

#include "hardware/rates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

void take_catalogue_rate(report::Throughput& throughput, const Gpu& gpu, const std::string& precision) {
  const auto known = std::ranges::find(compute_precisions(), precision, [](auto one) { return name_of(one); });
  if (known == compute_precisions().end()) return;
  if (const auto rate = compute_rate(gpu, *known)) {
    throughput.peak_flops = rate->value;
    throughput.peak_known_by = fmt::format("{}, {}, dense", gpu.short_name, precision);
  }
}

}  // namespace

void take_utilisation(report::RunResult& result, const ingest::RunFacts& facts) {
  if (!result.throughput || !facts.work) return;
  const auto& work = *facts.work;
  report::Throughput& throughput = *result.throughput;
  throughput.flops_per_token = work.flops_per_token;
  throughput.flops_known_by = work.rule;
  if (work.peak_flops > 0) {
    throughput.peak_flops = static_cast<double>(work.peak_flops);
    throughput.peak_known_by = "given by the script";
  } else if (const auto gpu = find_gpu(result.device.name)) {
    take_catalogue_rate(throughput, **gpu, work.precision);
  }
}

}  // namespace ullage::cli
