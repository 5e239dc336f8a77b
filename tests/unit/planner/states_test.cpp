// SPDX-License-Identifier: Apache-2.0
// The figures of states that go round, and what they stand on (docs/plan.md shows them).
#include "planner/states.hpp"

#include "model/catalogue.hpp"
#include "model/families.hpp"

#include <gtest/gtest.h>

namespace ullage::planner {
namespace {

constexpr std::uint64_t billion = 1'000'000'000;

Training training(std::string_view precision, std::string_view framework = "", std::string_view optimizer = "adamw") {
  Training made;
  made.precision = setup::find_precision(precision, framework).value();
  made.optimizer = setup::find_optimizer(optimizer).value();
  return made;
}

Training inference(std::string_view precision) {
  Training made = training(precision);
  made.optimizer = nullptr;
  return made;
}

std::uint64_t bytes(std::uint64_t parameters, const Training& how) {
  return states_of(model::nominal_model(parameters), how).value().bytes;
}

double gigabytes(std::uint64_t parameters, const Training& how) {
  return static_cast<double>(bytes(parameters, how)) / 1e9;
}

Training shared(Training how, std::uint64_t ranks, unsigned zero) {
  how.ranks = ranks, how.zero = zero;
  return how;
}

model::Model named(std::string_view name) {
  return model::describe(model::find_in_catalogue(name)->config, "").value();
}

TEST(Folklore, SevenBillionTrainIn112GBAndInferIn14) {
  EXPECT_EQ(bytes(7 * billion, training("bf16-master")), 112 * billion);
  EXPECT_EQ(bytes(7 * billion, training("bf16-autocast")), 112 * billion);
  EXPECT_EQ(bytes(7 * billion, inference("bf16")), 14 * billion);
}

TEST(Folklore, OnePointThreeBillionAre2600And20800MB) {
  EXPECT_EQ(bytes(1300 * billion / 1000, inference("bf16")), 2600 * billion / 1000);
  EXPECT_EQ(bytes(1300 * billion / 1000, training("fp16-master")), 20800 * billion / 1000);
}

TEST(Folklore, SixteenEighteenAndTwentyBytesAParameter) {
  const std::tuple<const char*, const char*, std::uint64_t> rows[] = {
      {"fp32", "pytorch", 16},          {"bf16-autocast", "pytorch", 16},
      {"bf16", "pytorch", 8},           {"fp16-master", "deepspeed", 16},
      {"bf16-master", "deepspeed", 16}, {"bf16-master-fp32-grad", "deepspeed", 18},
      {"fp32", "megatron", 16},         {"bf16-master-fp32-grad", "megatron", 18},
      {"fp16-master", "megatron", 20}};
  for (const auto& [precision, framework, each] : rows)
    EXPECT_EQ(bytes(billion, training(precision, framework)), each * billion) << precision << " " << framework;
}

// The figure of Rajbhandari et al. 2020: 7.5e9 parameters, Adam in mixed precision, 64 ranks.
TEST(Folklore, ZeroAsInItsPaper) {
  const Training mixed = training("fp16-master");
  const std::uint64_t count = 7500 * billion / 1000;
  EXPECT_EQ(bytes(count, shared(mixed, 64, 0)), 120 * billion);
  EXPECT_NEAR(gigabytes(count, shared(mixed, 64, 1)), 31.4, 0.05);
  EXPECT_NEAR(gigabytes(count, shared(mixed, 64, 2)), 16.6, 0.05);
  EXPECT_NEAR(gigabytes(count, shared(mixed, 64, 3)), 1.88, 0.005);
}

// Megatron's distributed optimizer: 6 + 12/d, 4 + 16/d, 8 + 8/d bytes.
TEST(Folklore, MegatronsDistributedOptimizer) {
  for (const std::uint64_t ranks : {2u, 8u, 64u}) {
    EXPECT_EQ(bytes(64 * billion, shared(training("bf16-master-fp32-grad", "megatron"), ranks, 1)),
              64 * billion * 6 + 64 * billion * 12 / ranks);
    EXPECT_EQ(bytes(64 * billion, shared(training("fp16-master", "megatron"), ranks, 1)),
              64 * billion * 4 + 64 * billion * 16 / ranks);
    EXPECT_EQ(bytes(64 * billion, shared(training("fp32", "megatron"), ranks, 1)),
              64 * billion * 8 + 64 * billion * 8 / ranks);
  }
}

TEST(States, ChildrenAddUpWhateverTheSetup) {
  for (const std::string_view name : {"gpt2", "opt-350m", "gemma-2-2b", "llama-3.1-405b"})
    for (const setup::Precision& precision : setup::precisions())
      for (const setup::Optimizer& optimizer : setup::optimizers()) {
        Training how = training(precision.name, setup::name_of(precision.framework), optimizer.name);
        how.ranks = 7, how.zero = 3;
        const auto states = states_of(named(name), how);
        ASSERT_EQ(states.has_value(), !precision.has_master() || optimizer.works_on_master);
        if (!states) continue;
        for (const ledger::Line& line : states->lines) EXPECT_TRUE(ledger::check(line).empty()) << name;
      }
}

TEST(States, FrozenParametersHaveWeightsAlone) {
  Training how = training("bf16-autocast");
  how.freeze = {"*weight"};
  const States states = states_of(named("gpt2"), how).value();
  EXPECT_EQ(states.trained, 102144u);  // biases
  EXPECT_EQ(states.bytes, 4 * 124439808ull + 12 * states.trained);
  how.freeze = {"*"};
  EXPECT_EQ(states_of(named("gpt2"), how).error().what, "nothing is trained");
  how.freeze = {"transformer.h.*"};
  EXPECT_EQ(states_of(named("gpt2"), how).value().trained, 124439808ull - 12 * 7087872ull);
}

Formula buckets(std::string_view precision, std::string_view framework, unsigned zero, std::uint64_t ranks = 8) {
  const States states = states_of(named("gpt2"), shared(training(precision, framework), ranks, zero)).value();
  const Formula& last = states.formulas.back();
  return last.line == "buckets" ? last : Formula{};
}

// They are told and not summed: of gpt2 124,439,808 parameters, the largest layer or embedding 38,597,376.
TEST(States, BucketsOfTheFrameworks) {
  EXPECT_EQ(buckets("fp32", "pytorch", 0, 1).text, "");
  EXPECT_EQ(buckets("fp32", "pytorch", 1).text,
            "not in the sum: 4 B x 124,439,808 = 474.70 MiB, none with gradient_as_bucket_view=True");
  EXPECT_EQ(buckets("fp32", "pytorch", 1).appears, "DDP is made; anew after the first backward pass");
  EXPECT_EQ(buckets("fp32", "pytorch", 3).text,
            "not in the sum: the largest unit whole, and another ahead of it: twice 4 B x 38,597,376 = 147.24 MiB");
  EXPECT_EQ(buckets("bf16-master", "deepspeed", 2).text,
            "not in the sum: reduce_bucket_size 2 B x 124,439,808 = 237.35 MiB; as much for allgather_bucket_size");
  EXPECT_EQ(buckets("bf16-master-fp32-grad", "megatron", 1).text,
            "not in the sum: none beside the gradients: their one buffer is cut into buckets");
}

TEST(States, TheLargestModelAllowedDoesNotOverflow) {
  Training how = training("fp16-master", "megatron");
  EXPECT_EQ(bytes(model::most_elements, how), 20 * model::most_elements);
  how.ranks = 3, how.zero = 1;
  EXPECT_LT(bytes(model::most_elements, how), 20 * model::most_elements);
}

TEST(States, FormulasSayWhatTheBytesAre) {
  const States states = states_of(model::nominal_model(1313626112), inference("bf16")).value();
  EXPECT_EQ(states.formulas.front().text, "2 B x 1,313,626,112 = 2.45 GiB");
}

TEST(States, EightBitStatesHaveScalesAndSmallTensorsStayWide) {
  model::Model two;
  two.model_type = "two";
  two.groups.push_back({"all", false, 1, {{"large", {100, 257}, 25'700, {}}, {"small", {100}, 100, {}}}});
  const States states = states_of(two, training("bf16", "", "adamw-8bit")).value();
  const auto of = [&](const char* id) { return ledger::find(states.lines.back(), id)->bytes; };
  EXPECT_EQ(of("optimizer_state.state1"), 25'700u + 4 * 100);
  EXPECT_EQ(of("optimizer_state.absmax1"), 4u * 101);
  EXPECT_EQ(of("optimizer_state.qmap1"), 1024u);
}

TEST(States, WhatWasNotExecutedIsEstimated) {
  const auto known = [](const Training& how) {
    std::vector<ledger::KnownBy> found;
    const States states = states_of(named("gpt2"), how).value();
    for (const ledger::Line& line : states.lines) found.push_back(line.known_by);
    return found;
  };
  using enum ledger::KnownBy;
  EXPECT_EQ(known(training("bf16")), (std::vector{derived, derived, derived}));
  EXPECT_EQ(known(training("bf16-master")), (std::vector{estimated, estimated, estimated}));
  EXPECT_EQ(known(shared(training("bf16"), 8, 1)), (std::vector{derived, derived, estimated}));
  EXPECT_EQ(known(shared(training("bf16"), 8, 3)), (std::vector{estimated, estimated, estimated}));
}

TEST(States, WhatIsNotDescribedIsRefused) {
  EXPECT_FALSE(states_of(model::nominal_model(9), training("bf16", "", "adafactor")));
  EXPECT_FALSE(states_of(model::nominal_model(9), training("bf16", "", "adamw-8bit")));
  EXPECT_FALSE(states_of(named("gpt2"), training("bf16-master", "", "adamw-8bit")));
}

}  // namespace
}  // namespace ullage::planner
