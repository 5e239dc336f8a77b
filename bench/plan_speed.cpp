// SPDX-License-Identifier: Apache-2.0
// Plans per second through the library, on one core: a training step of a model with the allocator, and its peak of
// requests alone. usage: bench_plan_speed [MODEL [GPU]]
#include "hardware/catalogue.hpp"
#include "lowering/lower.hpp"
#include "model/families.hpp"
#include "model/source.hpp"
#include "planner/step_plan.hpp"

#include <cstdio>
#include <ctime>

namespace {

using namespace ullage;

constexpr double seconds = 2;

/// Calls `plan` for two seconds of processor time with sequences of different lengths; calls per second.
template <class Plan>
double rate_of(Plan plan) {
  const std::clock_t since = std::clock();
  std::uint64_t calls = 0, sum = 0;
  double passed = 0;
  for (; passed < seconds; passed = static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC)
    sum += plan(static_cast<std::int64_t>(512 + 64 * (calls++ % 16)));
  if (sum == 0) std::puts("nothing was planned");
  return static_cast<double>(calls) / passed;
}

}  // namespace

int main(int count, char** words) {
  const auto source = model::find_source(count > 1 ? words[1] : "llama-3.1-8b");
  const auto gpu = find_gpu(count > 2 ? words[2] : "h100-80gb");
  if (!source || !gpu) return 2;
  const auto model = model::describe(source->json, source->where);
  if (!model) return 3;
  const lowering::DeviceFacts device = lowering::facts_of(**gpu);
  lowering::Setup setup;
  setup.autocast = true;
  setup.micro_batch = 1;
  const auto folded = [&](std::int64_t sequence) {
    setup.sequence = sequence;
    return *lowering::lower_folded(*model, setup, device);
  };
  const auto program = [&](std::int64_t sequence) {
    setup.sequence = sequence;
    return *lowering::lower(*model, setup, device);
  };
  std::printf("%.0f plans/s with the allocator\n",
              rate_of([&](auto sequence) { return planner::run_program(program(sequence), {}).peak_reserved; }));
  std::printf("%.0f plans/s of the peak of requests\n",
              rate_of([&](auto sequence) { return planner::peak_of_requests(folded(sequence)); }));
  std::printf("%.0f lowerings/s\n", rate_of([&](auto sequence) { return program(sequence).events.size(); }));
}
