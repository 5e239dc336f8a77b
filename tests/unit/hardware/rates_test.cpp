// SPDX-License-Identifier: Apache-2.0
#include "hardware/rates.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace ullage {
namespace {

const Gpu& gpu(std::string_view name) {
  return *find_gpu(name).value();
}

TEST(Rates, AreTypedAndHaveARange) {
  const Gpu& h100 = gpu("h100-80gb");
  EXPECT_EQ(compute_rate(h100, ComputePrecision::bf16)->value, 989e12);
  EXPECT_EQ(compute_rate(h100, ComputePrecision::fp8)->value, 1979e12);
  EXPECT_EQ(memory_rate(h100)->value, 3350e9);
  EXPECT_EQ(host_link_rate(h100)->value, 63e9);
  EXPECT_EQ(gpu_link_rate(h100)->value, 450e9);
  for (const Gpu& row : gpus())
    for (const Fact fact : rate_facts())
      if (const KnownRate rate = rate_of(row, fact)) {
        EXPECT_GT(rate->low, 0) << row.short_name;
        EXPECT_LE(rate->low, rate->value) << row.short_name;
        EXPECT_LE(rate->value, rate->high) << row.short_name;
      }
}

TEST(Rates, WhatIsMissingHasAReason) {
  const auto bf16 = compute_rate(gpu("t4"), ComputePrecision::bf16);
  ASSERT_FALSE(bf16);
  EXPECT_EQ(bf16.error().kind, NoRate::Kind::not_in_hardware);
  EXPECT_EQ(bf16.error().reason, "compute capability 7.5 has no bf16 units: they came with 8.0");
  EXPECT_EQ(compute_rate(gpu("a100-40gb"), ComputePrecision::fp8).error().kind, NoRate::Kind::not_in_hardware);
  EXPECT_EQ(gpu_link_rate(gpu("l4")).error().kind, NoRate::Kind::not_in_hardware);
  EXPECT_EQ(gpu_link_rate(gpu("a100-pcie-40gb")).error().kind, NoRate::Kind::not_known);
  EXPECT_EQ(compute_rate(gpu("h20-96gb"), ComputePrecision::fp64).error().kind, NoRate::Kind::not_known);
}

TEST(Rates, NamesAndFactsBelongTogether) {
  for (const ComputePrecision precision : compute_precisions()) {
    const FactInfo& info = facts()[static_cast<std::size_t>(fact_of(precision))];
    EXPECT_EQ(info.name, std::string(name_of(precision)) + "_peak");
    EXPECT_EQ(info.unit, "FLOP/s");
  }
}

/// Dense fp16 FLOP per multiprocessor and clock that the matrix units can do with fp32 accumulation: twice the fused
/// multiply-adds of the vendor's descriptions of each architecture. GeForce cards do half of it.
double dense_per_clock(const Gpu& row) {
  static const std::map<std::pair<int, int>, double> table{{{7, 0}, 1024},  {{7, 5}, 1024},  {{8, 0}, 2048},
                                                           {{8, 6}, 1024},  {{8, 9}, 1024},  {{9, 0}, 4096},
                                                           {{10, 0}, 8192}, {{10, 3}, 8192}, {{12, 0}, 1024}};
  const bool geforce = row.cuda_name.find("GeForce") != std::string_view::npos;
  return table.at({row.cc_major, row.cc_minor}) * (geforce ? 0.5 : 1);
}

// A figure with sparsity, or with fp16 accumulation on GeForce, would be twice the bound.
TEST(Rates, NoSparseFigureIsTakenForADenseOne) {
  for (const Gpu& row : gpus()) {
    const double bound = dense_per_clock(row) * row.value(Fact::sm_count) * row.value(Fact::sm_clock);
    EXPECT_LE(row.value(Fact::fp16_peak), 1.1 * bound) << row.short_name;
    EXPECT_LE(row.value(Fact::bf16_peak), 1.1 * bound) << row.short_name;
    EXPECT_LE(row.value(Fact::tf32_peak), 1.1 * bound / 2) << row.short_name;
    EXPECT_LE(row.value(Fact::fp8_peak), 1.1 * bound * 2) << row.short_name;
    EXPECT_LE(row.value(Fact::fp64_peak), 1.1 * row.value(Fact::fp32_peak)) << row.short_name;
  }
}

TEST(DenseLimit, IsThatOfTheBestCardOfTheCapability) {
  const Gpu& h100 = gpu("h100-80gb");
  const double limit = dense_limit(9, 0, 132, 1980e6);
  EXPECT_GE(limit, h100.value(Fact::fp16_peak) * 0.999);
  EXPECT_LT(limit, h100.value(Fact::fp16_peak) * 1.1);
  EXPECT_EQ(dense_limit(9, 3, 132, 1980e6), limit) << "the nearest capability stands for an unknown one";
  EXPECT_EQ(dense_limit(6, 0, 60, 1e9), 0);
}

TEST(MostAlike, GoesByCapabilityThenByMultiprocessors) {
  EXPECT_EQ(most_alike(9, 0, 114)->short_name, "h100-pcie-80gb");
  EXPECT_EQ(most_alike(8, 9, 60)->short_name, "l4");
  EXPECT_EQ(most_alike(12, 1, 48)->cc_major, 12);
  EXPECT_EQ(most_alike(6, 1, 28), nullptr);
}

}  // namespace
}  // namespace ullage
