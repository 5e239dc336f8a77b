// SPDX-License-Identifier: Apache-2.0
#include "cost/step/time.hpp"

#include "cost/step/efficiency.hpp"

#include <algorithm>
#include <cmath>

namespace ullage::cost {
namespace {

/// A duration and by which factors it may be shorter or longer.
struct Duration {
  double seconds = 0, shortest = 1, longest = 1;
  Bound bound = Bound::memory;
};

const Rate& rate_of(const program::Operator& op, const DeviceRates& rates) {
  if (op.bits == 16) return rates.half;
  return op.tensor_cores ? rates.tf32 : rates.fp32;
}

Duration slower(const Duration& left, const Duration& right) {
  return left.seconds >= right.seconds ? left : right;
}

Duration moved(double bytes, const Rate& memory, const Ranged& share) {
  return {bytes / (memory.value * share.value), memory.value / memory.high * share.value / share.high,
          memory.value / memory.low * share.value / share.low, Bound::memory};
}

Duration product(const program::Operator& op, const DeviceRates& rates) {
  constexpr ProductModel model;
  const Rate& rate = rate_of(op, rates);
  const double results =
      static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(std::max<std::uint64_t>(op.batch, 1));
  const double idle = results > 0 ? model.tiles * rates.multiprocessors * 128 * 128 / results : 0;
  const double compute = op.flops / (rate.value * model.share) * (1 + idle);
  const double memory = op.bytes / (rates.memory.value * model.bandwidth_share);
  const Rate& binding = compute >= memory ? rate : rates.memory;
  return {std::hypot(compute, memory), model.low * binding.value / binding.high,
          model.high * binding.value / binding.low, compute >= memory ? Bound::compute : Bound::memory};
}

Duration attention(const program::Operator& op, const DeviceRates& rates) {
  const Rate& rate = rate_of(op, rates);
  const double done = op.causal ? op.flops / 2 : op.flops;
  const Duration compute{done / (rate.value * attention_share.value),
                         rate.value / rate.high * attention_share.value / attention_share.high,
                         rate.value / rate.low * attention_share.value / attention_share.low, Bound::compute};
  return slower(compute, moved(op.bytes, rates.memory, streaming_share));
}

Duration work_of_one(const program::Operator& op, const DeviceRates& rates) {
  switch (op.work) {
    case OperatorWork::matmul:
      return product(op, rates);
    case OperatorWork::attention:
      return attention(op, rates);
    case OperatorWork::reduction:
    case OperatorWork::gather:
      return moved(op.bytes, rates.memory, row_share);
    case OperatorWork::none:
    case OperatorWork::pointwise:
    case OperatorWork::copy:
    case OperatorWork::optimizer:
      return moved(op.bytes, rates.memory, streaming_share);
  }
  return {};
}

/// One pass: what its operators take on the device, and how many kernels the host launches for it.
struct PassTime {
  SecondsRange device;
  std::uint64_t launches = 0;

  void add(const SecondsRange& seconds, std::uint32_t count) {
    device.low += seconds.low;
    device.value += seconds.value;
    device.high += seconds.high;
    launches += count;
  }
};

// The host runs ahead of the device within a pass, so the slower of the two sets the pace of the pass as a whole.
void add_pass(StepTime& total, const PassTime& pass, Pass which) {
  const auto launches = static_cast<double>(pass.launches);
  const double host = launches * host_seconds.value, seconds = std::max(pass.device.value, host);
  total.step.low += std::max(pass.device.low, launches * host_seconds.low);
  total.step.value += seconds;
  total.step.high += std::max(pass.device.high, launches * host_seconds.high);
  total.seconds_by_bound[static_cast<std::size_t>(Bound::launch)] += seconds - pass.device.value;
  total.seconds_by_pass[static_cast<std::size_t>(which)] = seconds;
  total.launches += pass.launches;
}

}  // namespace

tl::expected<DeviceRates, NoRate> device_rates(const Gpu& gpu, ComputePrecision half) {
  const KnownRate memory = memory_rate(gpu), fp32 = compute_rate(gpu, ComputePrecision::fp32);
  if (!memory) return tl::unexpected(memory.error());
  if (!fp32) return tl::unexpected(fp32.error());
  const KnownRate narrow = compute_rate(gpu, half), tf32 = compute_rate(gpu, ComputePrecision::tf32);
  return DeviceRates{narrow.value_or(*fp32), tf32.value_or(*fp32), *fp32, *memory, gpu.value(Fact::sm_count), !narrow};
}

std::string_view name_of(Bound bound) {
  constexpr std::array<std::string_view, bounds.size()> names{"compute", "memory", "launch"};
  return names[static_cast<std::size_t>(bound)];
}

Bound StepTime::bound_by() const {
  const auto most = std::max_element(seconds_by_bound.begin(), seconds_by_bound.end());
  return bounds[static_cast<std::size_t>(most - seconds_by_bound.begin())];
}

OperatorTime operator_time(const program::Operator& op, const DeviceRates& rates) {
  const Duration work = work_of_one(op, rates);
  const auto launches = static_cast<double>(op.launches);
  OperatorTime time;
  time.gap_seconds = launches * gap_seconds.value;
  time.seconds = {work.seconds * work.shortest + launches * gap_seconds.low, work.seconds + time.gap_seconds,
                  work.seconds * work.longest + launches * gap_seconds.high};
  time.bound = work.bound;
  return time;
}

StepTime step_time(const program::Program& program, const DeviceRates& rates, std::optional<std::uint32_t> step) {
  StepTime total;
  std::array<PassTime, passes.size()> by_pass;
  std::array<double, 3> flops{};  // by rate: half, tf32, fp32
  const std::array peaks{&rates.half, &rates.tf32, &rates.fp32};
  for_each_operator(program, step, [&](const program::Operator& op, Pass pass) {
    const OperatorTime time = operator_time(op, rates);
    by_pass[static_cast<std::size_t>(pass)].add(time.seconds, op.launches);
    total.seconds_by_bound[static_cast<std::size_t>(time.bound)] += time.seconds.value - time.gap_seconds;
    total.seconds_by_bound[static_cast<std::size_t>(Bound::launch)] += time.gap_seconds;
    total.seconds_by_work[static_cast<std::size_t>(op.work)] += time.seconds.value;
    for (std::size_t i = 0; i < peaks.size(); ++i)
      if (&rate_of(op, rates) == peaks[i]) flops[i] += op.flops;
  });
  for (const Pass pass : passes) add_pass(total, by_pass[static_cast<std::size_t>(pass)], pass);
  const auto most = std::max_element(flops.begin(), flops.end());
  if (*most > 0) total.peak_flops = peaks[static_cast<std::size_t>(most - flops.begin())]->value;
  return total;
}

}  // namespace ullage::cost
