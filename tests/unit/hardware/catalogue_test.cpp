// SPDX-License-Identifier: Apache-2.0
#include "hardware/catalogue.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ullage {
namespace {

const Gpu& gpu(std::string_view name) {
  return *find_gpu(name).value();
}

TEST(Catalogue, EveryRowHasWhatARehearsalNeeds) {
  for (const Gpu& row : gpus()) {
    EXPECT_GE(row.cc_major, 7) << row.short_name;
    EXPECT_FALSE(row.cuda_name.empty());
    EXPECT_GT(row.count(Fact::sm_count), 0u);
    EXPECT_GT(row.capacity_bytes(), 7ull << 30);
    for (const int major : {11, 12, 13}) EXPECT_GT(row.context(major).value, 100e6);
  }
}

TEST(Catalogue, EveryNumberHasASourceAndARange) {
  const std::set<std::string_view> ways{"measured", "published", "estimated"};
  for (const Gpu& row : gpus()) {
    for (const auto& [fact, quantity] : row.known) {
      EXPECT_FALSE(quantity.source.empty()) << row.short_name << " " << static_cast<int>(fact);
      EXPECT_TRUE(ways.contains(quantity.known_by));
      EXPECT_LE(quantity.low, quantity.value);
      EXPECT_GE(quantity.high, quantity.value);
      EXPECT_EQ(quantity.unit, facts()[static_cast<std::size_t>(fact)].unit);
    }
  }
}

TEST(Catalogue, NamesAreUnambiguous) {
  std::set<std::string_view> names;
  for (const Gpu& row : gpus()) {
    EXPECT_TRUE(names.insert(row.short_name).second) << row.short_name;
    for (const auto alias : row.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
  }
}

TEST(Catalogue, HasTheRequiredNames) {
  for (const char* name :
       {"v100-16gb",      "v100-32gb",      "t4",         "a10",         "a100-40gb", "a100-80gb",
        "a100-pcie-40gb", "a100-pcie-80gb", "l4",         "l40s",        "rtx3090",   "rtx4060ti-8gb",
        "rtx4060ti-16gb", "rtx4090",        "rtx5090",    "rtxpro6000",  "h100-80gb", "h100-pcie-80gb",
        "h100-nvl-94gb",  "h200",           "gh200-96gb", "gh200-144gb", "b200"}) {
    EXPECT_TRUE(find_gpu(name)) << name;
  }
}

TEST(Catalogue, ANameOfSeveralCardsIsNotGuessed) {
  EXPECT_EQ((*find_gpu("NVIDIA GeForce RTX 4090"))->short_name, "rtx4090");
  const auto ambiguous = find_gpu("NVIDIA GeForce RTX 4060 Ti");
  ASSERT_FALSE(ambiguous);
  EXPECT_EQ(ambiguous.error().kind, ErrorKind::usage);
  EXPECT_NE(ambiguous.error().hint.find("rtx4060ti-8gb rtx4060ti-16gb"), std::string::npos);
  const auto part = find_gpu("rtx4060ti");
  ASSERT_FALSE(part);
  EXPECT_NE(part.error().hint.find("rtx4060ti-16gb"), std::string::npos);
}

TEST(Catalogue, KnowsTheFiguresOfRealCards) {
  EXPECT_EQ(gpu("a100-40gb").capacity_bytes(), 42298834944u);
  EXPECT_EQ(gpu("a100-40gb").count(Fact::sm_count), 108u);
  EXPECT_EQ(gpu("a100-40gb").count(Fact::shared_optin_per_block), 166912u);
  EXPECT_EQ(gpu("h100-80gb").count(Fact::sm_count), 132u);
  EXPECT_EQ(gpu("h100-80gb").value(Fact::bf16_peak), 989e12);
  EXPECT_EQ(gpu("t4").cc_minor, 5);
  EXPECT_EQ(gpu("t4").count(Fact::threads_per_sm), 1024u);
  EXPECT_EQ(gpu("t4").find(Fact::bf16_peak), nullptr);
  EXPECT_EQ(gpu("rtx4090").count(Fact::blocks_per_sm), 24u);
  EXPECT_EQ(gpu("b200").count(Fact::sm_count), 148u);
  EXPECT_EQ(gpu("rtx4060ti-16gb").capacity_bytes(), 16722821120u);
  EXPECT_EQ(gpu("rtx4060ti-8gb").count(Fact::sm_count), 34u);
}

// A memory clock that is double-pumped, times the bus, is the bandwidth: data-sheet figures agree within a few percent.
TEST(Catalogue, ClockAndBusAgreeWithTheBandwidth) {
  for (const Gpu& row : gpus()) {
    const double computed = row.value(Fact::memory_clock) * 2 * row.value(Fact::memory_bus) / 8;
    EXPECT_NEAR(computed / row.value(Fact::memory_bandwidth), 1.0, 0.08) << row.short_name;
  }
}

TEST(FindGpu, IgnoresCaseAndTakesAliasesAndCudaNames) {
  EXPECT_EQ(gpu("A100-40GB").short_name, "a100-40gb");
  EXPECT_EQ(gpu("a100-sxm-40gb").short_name, "a100-40gb");
  EXPECT_EQ(gpu("nvidia a100-pcie-40gb").short_name, "a100-pcie-40gb");
}

TEST(FindGpu, NamesTheCandidates) {
  const auto found = find_gpu("A100");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::usage);
  for (const char* name : {"a100-40gb", "a100-80gb", "a100-pcie-40gb", "a100-pcie-80gb"}) {
    EXPECT_NE(found.error().hint.find(name), std::string::npos) << found.error().hint;
  }
  EXPECT_NE(find_gpu("quantum-9000-xyz").error().hint.find("known names"), std::string::npos);
}

TEST(FormFactor, SaysWhenANameMeansTheSxmForm) {
  EXPECT_TRUE(gpu("a100-40gb").sxm_by_default());
  EXPECT_FALSE(gpu("a100-pcie-40gb").sxm_by_default());
  EXPECT_FALSE(gpu("t4").sxm_by_default());
}

}  // namespace
}  // namespace ullage
