// SPDX-License-Identifier: Apache-2.0
#include "cost/step/flops.hpp"
#include "cost/step/generation.hpp"
#include "cost/step/time.hpp"
#include "cost/step/totals.hpp"
#include "cost/step/work.hpp"
#include "hardware/catalogue.hpp"

#include <gtest/gtest.h>

using namespace ullage;
using namespace ullage::cost;
using program::Operator;
using program::Phase;

namespace {

Operator matmul(const char* name, std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t batch = 1) {
  Operator op;
  op.name = name;
  op.work = OperatorWork::matmul;
  op.bits = 16;
  op.tensor_cores = true;
  op.m = m;
  op.n = n;
  op.k = k;
  op.batch = batch;
  op.flops = 2.0 * static_cast<double>(batch * m * n * k);
  op.bytes = 2.0 * static_cast<double>(batch * (m * k + k * n + m * n));
  return op;
}

Operator moving(OperatorWork work, double bytes, std::uint32_t launches = 1) {
  Operator op;
  op.name = "aten::add";
  op.work = work;
  op.bytes = bytes;
  op.launches = launches;
  return op;
}

/// Two steps of a layer of 4 x 3 weights for 5 tokens, with an embedding of 7 x 4 and attention in batches.
class Steps {
 public:
  Steps() {
    program.operators.push_back({});
    for (std::uint32_t step = 1; step <= 2; ++step) {
      mark(Phase::forward, step);
      add(moving(OperatorWork::gather, 100));
      add(matmul("aten::mm", 5, 3, 4));
      add(matmul("aten::bmm", 5, 5, 2, 2));
      mark(Phase::backward, step);
      Operator again = matmul("aten::mm", 5, 3, 4);
      again.recomputed = true;
      add(again);
      add(matmul("aten::bmm", 5, 2, 5, 2));
      add(matmul("aten::bmm", 2, 5, 5, 2));
      add(matmul("aten::mm", 4, 3, 5));
      if (step == 2) add(matmul("aten::mm", 5, 4, 3));
      mark(Phase::optimizer, step);
      add(moving(OperatorWork::optimizer, 1000, 3));
      mark(Phase::other, step);
      add(moving(OperatorWork::copy, 1e9));
    }
  }
  program::Program program;

 private:
  void mark(Phase phase, std::uint32_t step) { program.marks.push_back({0, program.operators.size(), phase, step, 1}); }
  void add(const Operator& op) { program.operators.push_back(op); }
};

TEST(StepWork, IsOfTheLastStepByPassAndClass) {
  const StepWork work = work_of(Steps().program);
  EXPECT_EQ(work.of(Pass::forward, OperatorWork::matmul).flops, 2 * 60 + 2 * 100);
  EXPECT_EQ(work.of(Pass::recomputed).flops, 2 * 60);
  EXPECT_EQ(work.of(Pass::backward, OperatorWork::matmul).flops, 2 * (2 * 60) + 2 * (2 * 100));
  EXPECT_EQ(work.of(Pass::optimizer).launches, 3u);
  EXPECT_EQ(work.of(OperatorWork::gather).bytes, 100);
  EXPECT_EQ(work.of(OperatorWork::copy).bytes, 0);  // between the steps
  EXPECT_EQ(work.all().operators, 9u);
}

TEST(StepWork, OfAnotherStepWhenItIsNamed) {
  EXPECT_EQ(work_of(Steps().program, 1).of(Pass::backward).operators, 3u);
  EXPECT_EQ(work_of(Steps().program, 9).all().operators, 0u);
}

TEST(RuleOfThumb, EveryDifferenceHasAName) {
  // 12 weights that are multiplied, 28 of the embedding that are not; 5 tokens
  const RuleComparison found = compare_with_rule(Steps().program, {40, 5});
  EXPECT_EQ(found.rule, 6 * 40 * 5);
  EXPECT_EQ(found.not_multiplied, -6 * 28 * 5);
  EXPECT_EQ(found.attention, 2 * 100 * 3);
  EXPECT_EQ(found.recomputed, 2 * 60);
  EXPECT_EQ(found.not_trained, 0);
  EXPECT_EQ(found.counted, found.rule + found.not_multiplied + found.attention + found.recomputed + found.not_trained);
}

TEST(RuleOfThumb, GradientsThatNobodyWantsAreALineOfTheirOwn) {
  EXPECT_EQ(compare_with_rule(Steps().program, {40, 5}, 1).not_trained, -2 * 60);
}

// 1 TFLOP/s and 1 TB/s, known exactly; 100 multiprocessors
const DeviceRates plain{
    {1e12, 1e12, 1e12}, {0.5e12, 0.5e12, 0.5e12}, {0.1e12, 0.1e12, 0.1e12}, {1e12, 1e12, 1e12}, 100, false};

TEST(OperatorTime, ALargeProductTakesItsShareOfThePeak) {
  // 2 * 8192^3 = 1.0995e12 FLOPs at 0.767 TFLOP/s, x (1 + 0.064 * 100 / 4096) for tiles; bytes: 0.4e9 / 0.872e12
  const OperatorTime time = operator_time(matmul("aten::mm", 8192, 8192, 8192), plain);
  EXPECT_NEAR(time.seconds.value, 1.0995116e12 / 0.767e12 * 1.0015625, 1e-5);
  EXPECT_EQ(time.bound, Bound::compute);
  EXPECT_NEAR(time.seconds.low / time.seconds.value, 0.78, 1e-4);
  EXPECT_NEAR(time.seconds.high / time.seconds.value, 1.34, 1e-4);
}

TEST(OperatorTime, AThinProductIsBoundByItsBytes) {
  const Operator thin = matmul("aten::mm", 8, 65536, 65536);
  const OperatorTime time = operator_time(thin, {{1e15, 1e15, 1e15}, {}, {}, {1e12, 1e12, 1e12}, 100, false});
  EXPECT_EQ(time.bound, Bound::memory);
  EXPECT_NEAR(time.seconds.value, thin.bytes / 0.872e12, 1e-4);
}

TEST(OperatorTime, TheTypeChoosesTheRate) {
  Operator op = matmul("aten::mm", 8192, 8192, 8192);
  const double half = operator_time(op, plain).seconds.value;
  op.bits = 32;
  EXPECT_NEAR(operator_time(op, plain).seconds.value / half, 2, 1e-3);
  op.tensor_cores = false;
  EXPECT_NEAR(operator_time(op, plain).seconds.value / half, 10, 1e-3);
}

TEST(OperatorTime, ACausalKernelDoesHalf) {
  Operator op;
  op.work = OperatorWork::attention;
  op.bits = 16;
  op.flops = 1.1e12;
  EXPECT_NEAR(operator_time(op, plain).seconds.value, 2, 1e-4);  // 0.55 of the peak
  op.causal = true;
  EXPECT_NEAR(operator_time(op, plain).seconds.value, 1, 1e-4);
}

TEST(OperatorTime, AnEmptyOperatorTakesItsLaunches) {
  const OperatorTime time = operator_time(moving(OperatorWork::pointwise, 0, 2), plain);
  EXPECT_NEAR(time.seconds.value, 6.2e-6, 1e-12);
  EXPECT_NEAR(time.gap_seconds, 6.2e-6, 1e-12);
}

TEST(StepTime, AddsUpAndNamesWhatBoundsIt) {
  program::Program program;
  program.operators = {{}, moving(OperatorWork::pointwise, 0.82e12), moving(OperatorWork::pointwise, 0, 10)};
  program.marks = {{0, 1, Phase::forward, 1, 1}};
  const StepTime time = step_time(program, plain);
  EXPECT_NEAR(time.step.value, 1 + 11 * 3.1e-6, 1e-9);
  EXPECT_EQ(time.bound_by(), Bound::memory);
  EXPECT_NEAR(time.seconds(Bound::memory), 1, 1e-9);
  EXPECT_NEAR(time.seconds(Bound::launch), 11 * 3.1e-6, 1e-9);
  EXPECT_NEAR(time.seconds(Pass::forward), time.step.value, 1e-12);
  EXPECT_NEAR(time.seconds(OperatorWork::pointwise), time.step.value, 1e-12);
  EXPECT_LE(time.step.low, time.step.value);
  EXPECT_GE(time.step.high, time.step.value);
  EXPECT_EQ(time.launches, 11u);
}

TEST(StepTime, ADeviceThatIsFasterThanTheHostWaits) {
  program::Program program;
  program.operators = {moving(OperatorWork::pointwise, 0, 1000), moving(OperatorWork::optimizer, 0.82e12, 1000)};
  program.marks = {{0, 0, Phase::forward, 1, 1}, {0, 1, Phase::optimizer, 1, 0}};
  const StepTime time = step_time(program, plain);
  EXPECT_NEAR(time.seconds(Pass::forward), 13e-3, 1e-9);     // 13 us a launch on the host, 3.1 us on the device
  EXPECT_NEAR(time.seconds(Pass::optimizer), 1.0031, 1e-9);  // the host has run ahead
  EXPECT_NEAR(time.seconds(Bound::launch), 16.1e-3, 1e-9);
  EXPECT_NEAR(time.seconds(Bound::memory), 1, 1e-9);
  EXPECT_NEAR(time.step.low, 0.82 / 0.9 + 2e-3 + 5e-3, 1e-9);
}

TEST(StepTime, ThePeakIsThatOfMostFlops) {
  program::Program program;
  Operator wide = matmul("aten::mm", 64, 64, 64);
  wide.bits = 32;
  wide.tensor_cores = false;
  program.operators = {wide, matmul("aten::mm", 128, 128, 128)};
  program.marks = {{0, 0, Phase::forward, 1, 1}};
  EXPECT_EQ(step_time(program, plain).peak_flops, 1e12);
}

TEST(DeviceRates, AGpuWithoutTheTypeComputesItInFp32) {
  const Gpu& t4 = **find_gpu("t4");
  const auto bf16 = device_rates(t4, ComputePrecision::bf16), fp16 = device_rates(t4, ComputePrecision::fp16);
  ASSERT_TRUE(bf16 && fp16);
  EXPECT_TRUE(bf16->half_is_emulated);
  EXPECT_EQ(bf16->half.value, compute_rate(t4, ComputePrecision::fp32)->value);
  EXPECT_FALSE(fp16->half_is_emulated);
  EXPECT_EQ(fp16->half.value, compute_rate(t4, ComputePrecision::fp16)->value);
}

TEST(Pace, HoursAndTokensPerSecondOfSeveralGpus) {
  const Pace pace{{0.4, 0.5, 0.8}, 4096, 8};
  EXPECT_EQ(pace.tokens_per_second(), 65536);
  const SecondsRange all = pace.seconds_for(65536.0 * 3600);
  EXPECT_NEAR(hours_of(all.value), 1, 1e-12);
  EXPECT_NEAR(hours_of(all.low), 0.8, 1e-12);
  EXPECT_NEAR(hours_of(all.high), 1.6, 1e-12);
}

TEST(Pace, EstimatesWithoutAProgram) {
  EXPECT_EQ(constant_mfu_seconds(4e14, 1e15, 0.4), 1);
  EXPECT_EQ(constant_mfu_seconds(4e14, 0, 0.4), 0);
  EXPECT_EQ(utilisation_of(4e14, 1e15, 1), 0.4);
  // GPT-3: 175e9 parameters, 300e9 tokens, 1,024 A100 at 140 TFLOP/s each: 25 days (the paper of Megatron says 34 with
  // recomputation, 8 / 6 of it)
  EXPECT_NEAR(envelope_seconds(175e9, 300e9, 1024 * 140e12) / 86400, 25.4, 0.1);
}

}  // namespace

TEST(Generation, IsItsFirstPassAndAllOthersTogether) {
  program::Program program;
  program.marks.push_back({0, 0, Phase::load, 0, 0});
  for (std::uint32_t step = 1; step <= 4; ++step) {
    program.marks.push_back({0, program.operators.size(), Phase::forward, step, 1});
    program.operators.push_back(matmul("aten::mm", step == 1 ? 512 : 1, 4096, 4096));
    program.operators.push_back(moving(OperatorWork::copy, 1e9 * step));
  }
  const DeviceRates rates = device_rates(**find_gpu("h100-80gb"), ComputePrecision::bf16).value();
  const GenerationCost cost = generation_cost(program, rates);
  EXPECT_EQ(cost.prefill.passes, 1U);
  EXPECT_EQ(cost.decode.passes, 3U);
  EXPECT_EQ(cost.prefill.matmul_flops, 2.0 * 512 * 4096 * 4096);
  EXPECT_EQ(cost.decode.matmul_flops, 3 * 2.0 * 4096 * 4096);
  EXPECT_EQ(cost.decode.bytes, 9e9 + 3 * 2.0 * (4096 + 4096 * 4096 + 4096));
  EXPECT_EQ(cost.decode.bound_by(), Bound::memory);
  double sum = 0;
  for (std::uint32_t step = 2; step <= 4; ++step) sum += step_time(program, rates, step).step.value;
  EXPECT_DOUBLE_EQ(cost.decode.seconds.value, sum);
  EXPECT_DOUBLE_EQ(cost.last_token.value, step_time(program, rates, 4).step.value);
  EXPECT_LE(cost.decode.device_seconds, cost.decode.seconds.value);
  EXPECT_LT(cost.decode.seconds.low, cost.decode.seconds.value);
}

TEST(RuleOfThumb, IsAThirdOfItInInference) {
  program::Program program;
  program.marks.push_back({0, 0, Phase::forward, 1, 1});
  program.operators.push_back(matmul("aten::mm", 5, 3, 4));
  const RuleComparison rule = compare_with_rule(program, {14, 5, false});
  EXPECT_EQ(rule.rule, 2.0 * 14 * 5);
  EXPECT_EQ(rule.not_multiplied, -2.0 * 2 * 5);
  EXPECT_EQ(rule.not_trained, 0);
  EXPECT_EQ(rule.rule + rule.not_multiplied, rule.counted);
}
