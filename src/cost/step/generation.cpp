// SPDX-License-Identifier: Apache-2.0
#include "cost/step/generation.hpp"

#include <algorithm>

namespace ullage::cost {
namespace {

void add(SecondsRange& sum, const SecondsRange& more) {
  sum.low += more.low;
  sum.value += more.value;
  sum.high += more.high;
}

void add(PassesCost& sum, const StepWork& work, const StepTime& time) {
  ++sum.passes;
  sum.matmul_flops += work.of(OperatorWork::matmul).flops;
  sum.attention_flops += work.of(OperatorWork::attention).flops;
  sum.bytes += work.all().bytes;
  add(sum.seconds, time.step);
  for (const double seconds : time.seconds_by_work) sum.device_seconds += seconds;
  for (std::size_t i = 0; i < bounds.size(); ++i) sum.seconds_by_bound[i] += time.seconds_by_bound[i];
}

}  // namespace

Bound PassesCost::bound_by() const {
  const auto most = std::ranges::max_element(seconds_by_bound);
  return bounds[static_cast<std::size_t>(most - seconds_by_bound.begin())];
}

GenerationCost generation_cost(const program::Program& program, const DeviceRates& rates) {
  GenerationCost cost;
  const std::uint32_t last = program.marks.empty() ? 0 : program.marks.back().step;
  for (std::uint32_t step = 1; step <= last; ++step) {
    const StepTime time = step_time(program, rates, step);
    add(step == 1 ? cost.prefill : cost.decode, work_of(program, step), time);
    cost.last_token = time.step;
  }
  return cost;
}

}  // namespace ullage::cost
