// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/hardware/catalogue_view.hpp"
#include "apps/ullage/hardware/own_gpus.hpp"
#include "apps/ullage/hardware/quantity_text.hpp"
#include "hardware/rates.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace ullage::cli {
namespace {

std::string card(const std::string& quantities, const std::string& fields = "") {
  return R"({"short_name": "my-card", "compute_capability": "8.9", )" + fields +
         R"("quantities": {"capacity": "20GiB", "sm_count": 80)" + (quantities.empty() ? "" : ", " + quantities) + "}}";
}

Result<OwnGpus> parsed(const std::string& text) {
  return parse_gpu_file(text, "my.json");
}

Error error_of(const std::string& text) {
  const auto own = parsed(text);
  EXPECT_FALSE(own) << text;
  return own ? Error{} : own.error();
}

TEST(GpuFile, TheLeastIsNameCapabilityMemoryAndMultiprocessors) {
  const auto own = parsed(card(""));
  ASSERT_TRUE(own) << own.error().what;
  const Gpu& gpu = own->gpus().front();
  EXPECT_EQ(gpu.short_name, "my-card");
  EXPECT_EQ(gpu.cuda_name, "my-card");
  EXPECT_EQ(gpu.capacity_bytes(), 20ull << 30);
  EXPECT_EQ(gpu.count(Fact::sm_count), 80u);
  EXPECT_EQ(gpu.find(Fact::capacity)->known_by, "given");
  EXPECT_EQ(gpu.find(Fact::capacity)->source, "my.json");
  EXPECT_EQ(find_gpu("MY-card", own->gpus()).value(), &gpu);
}

TEST(GpuFile, WhatADeviceNeedsIsAssumedAndSaysSo) {
  const auto own = parsed(card(""));
  ASSERT_TRUE(own);
  const Gpu& gpu = own->gpus().front();
  const Quantity* threads = gpu.find(Fact::threads_per_sm);
  ASSERT_NE(threads, nullptr);
  EXPECT_EQ(threads->value, 1536);
  EXPECT_EQ(threads->known_by, "assumed");
  EXPECT_NE(threads->note.find("my.json does not say"), std::string::npos);
  EXPECT_GT(gpu.context(13).value, 100e6);
}

TEST(GpuFile, RatesAreNeverAssumed) {
  const auto own = parsed(card(""));
  ASSERT_TRUE(own);
  for (const Fact fact : rate_facts()) EXPECT_FALSE(rate_of(own->gpus().front(), fact));
  EXPECT_EQ(memory_rate(own->gpus().front()).error().kind, NoRate::Kind::not_known);
}

TEST(GpuFile, QuantitiesAreNumbersTextsOrObjects) {
  const auto own = parsed(card(R"("memory_bandwidth": "1008 GB/s", "fp32_peak": 82.6e12, "context": "400MiB",
    // a comment
    "bf16_peak": {"value": 160, "low": 150, "high": "165 TFLOP/s", "unit": "TFLOP/s", "known_by": "measured", "source": "my bench"},)"));
  ASSERT_TRUE(own) << own.error().what << own.error().where;
  const Gpu& gpu = own->gpus().front();
  EXPECT_EQ(memory_rate(gpu)->value, 1008e9);
  EXPECT_EQ(compute_rate(gpu, ComputePrecision::fp32)->value, 82.6e12);
  const KnownRate bf16 = compute_rate(gpu, ComputePrecision::bf16);
  EXPECT_EQ(bf16->low, 150e12);
  EXPECT_EQ(bf16->high, 165e12);
  EXPECT_EQ(gpu.find(Fact::bf16_peak)->source, "my bench");
  EXPECT_EQ(gpu.context(12).value, 400.0 * (1 << 20));
  EXPECT_EQ(gpu.context(13).value, 400.0 * (1 << 20));
}

TEST(GpuFile, ASparseFigureIsHalvedWhereItSaysSo) {
  for (const char* flag : {R"("sparse": true)", R"("dense": false)"}) {
    const auto own = parsed(card(fmt::format(R"("fp16_peak": {{"value": "330 TFLOP/s", {}}})", flag)));
    ASSERT_TRUE(own) << own.error().what;
    EXPECT_EQ(own->gpus().front().value(Fact::fp16_peak), 165e12);
    EXPECT_EQ(own->gpus().front().find(Fact::fp16_peak)->note, "half of the figure with sparsity");
  }
}

TEST(GpuFile, ASparseFigureThatDoesNotSaySoIsRefused) {
  for (const char* rate : {R"("fp16_peak": "733 TFLOP/s")", R"("bf16_peak": "733 TFLOP/s")",
                           R"("tf32_peak": "366 TFLOP/s")", R"("fp8_peak": "1466 TFLOP/s")"}) {
    const Error error = error_of(card(std::string(rate) + R"(, "sm_clock": "2520 MHz")"));
    EXPECT_NE(error.hint.find("with sparsity"), std::string::npos) << rate;
    EXPECT_EQ(error.where.find("my.json: quantities."), 0u) << error.where;
  }
}

struct Wrong {
  std::string text, field;
};

class WrongFiles : public testing::TestWithParam<Wrong> {};

TEST_P(WrongFiles, AreErrorsThatNameTheField) {
  const Error error = error_of(GetParam().text);
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_EQ(error.where, "my.json: " + GetParam().field) << error.what;
  EXPECT_FALSE(error.expected.empty());
}

INSTANTIATE_TEST_SUITE_P(
    GpuFile, WrongFiles,
    testing::Values(
        Wrong{R"({"compute_capability": "8.9", "quantities": {}})", "short_name"},
        Wrong{R"({"short_name": "a100-40gb"})", "short_name"}, Wrong{R"({"short_name": "A;b"})", "short_name"},
        Wrong{R"({"short_name": "all"})", "short_name"}, Wrong{R"({"short_name": "x"})", "compute_capability"},
        Wrong{R"({"short_name": "x", "compute_capability": "6.1"})", "compute_capability"},
        Wrong{R"({"short_name": "x", "compute_capability": "new"})", "compute_capability"},
        Wrong{R"({"short_name": "x", "compute_capability": "8.9"})", "quantities"},
        Wrong{R"({"short_name": "x", "compute_capability": "8.9", "quantities": {"sm_count": 8}})",
              "quantities.capacity"},
        Wrong{R"({"short_name": "x", "compute_capability": 8.9, "quantities": {"capacity": "8GiB"}})",
              "quantities.sm_count"},
        Wrong{card("", R"("form_factor": "card", )"), "form_factor"},
        Wrong{card("", R"("name": "x;total_bytes=1", )"), "name"}, Wrong{card("", R"("colour": "green", )"), "colour"},
        Wrong{card("", R"("name": "x", "name": "y", )"), "name"},
        Wrong{card("", R"("capacity_bytes": 21474836481, )"), "capacity_bytes"},
        Wrong{card(R"("bf16_peak": 165)"), "quantities.bf16_peak"},
        Wrong{card(R"("bf16_peak": "165 GB/s")"), "quantities.bf16_peak"},
        Wrong{card(R"("bf16_peak": -1e12)"), "quantities.bf16_peak"},
        Wrong{card(R"("bf16_peak": [1])"), "quantities.bf16_peak"},
        Wrong{card(R"("bf16_peak": {"low": 1e12})"), "quantities.bf16_peak.value"},
        Wrong{card(R"("bf16_peak": {"value": 1e12, "low": 2e12})"), "quantities.bf16_peak"},
        Wrong{card(R"("bf16_peak": {"value": 1e12, "unit": "GB"})"), "quantities.bf16_peak.unit"},
        Wrong{card(R"("bf16_peak": {"value": 1e12, "sparse": "yes"})"), "quantities.bf16_peak.sparse"},
        Wrong{card(R"("l2": {"value": "64MiB", "sparse": true})"), "quantities.l2.sparse"},
        Wrong{card(R"("bf16_peak": {"value": 1e12, "known_by": "heart"})"), "quantities.bf16_peak.known_by"},
        Wrong{card(R"("bf16_peak": {"value": 1e12, "source": ""})"), "quantities.bf16_peak.source"},
        Wrong{card(R"("bf16_peek": 1e12)"), "quantities.bf16_peek"},
        Wrong{card(R"("context": "21GiB")"), "quantities.context"},
        Wrong{card(R"("memory_bus": 1e300)"), "quantities.memory_bus"}, Wrong{R"({"gpus": []})", "gpus"},
        Wrong{R"({"gpus": [7]})", "gpus[0]"},
        Wrong{R"({"gpus": [)" + card("") + "," + card("") + "]}", "gpus[1].short_name"},
        Wrong{R"({"gpus": [{}], "x": 1})", "x"}));

TEST(GpuFile, WhatIsNoJsonSaysAtWhichByte) {
  EXPECT_NE(error_of("short_name: x").where.find("my.json, byte"), std::string::npos);
  EXPECT_NE(error_of("").where.find("byte 0"), std::string::npos);
  error_of(std::string(200000, '['));
  error_of("[]");
}

/// Whatever `ullage gpus NAME --json` prints can be given another name and read again.
TEST(GpuFile, ReadsWhatTheCatalogueWrites) {
  for (const Gpu& gpu : gpus()) {
    const Gpu* one = &gpu;
    std::string text = gpus_json({&one, 1});
    const std::string name = fmt::format("\"short_name\": \"{}\"", gpu.short_name);
    text.replace(text.find(name), name.size(), "\"short_name\": \"mine\"");
    const auto own = parsed(text);
    ASSERT_TRUE(own) << gpu.short_name << ": " << own.error().where << " " << own.error().what;
    const Gpu& mine = own->gpus().front();
    ASSERT_EQ(mine.known.size(), gpu.known.size()) << gpu.short_name;
    for (std::size_t i = 0; i < gpu.known.size(); ++i) {
      EXPECT_EQ(mine.known[i].fact, gpu.known[i].fact);
      EXPECT_DOUBLE_EQ(mine.known[i].quantity.value, gpu.known[i].quantity.value) << gpu.short_name;
      EXPECT_DOUBLE_EQ(mine.known[i].quantity.low, gpu.known[i].quantity.low);
      EXPECT_EQ(mine.known[i].quantity.source, gpu.known[i].quantity.source);
      EXPECT_EQ(mine.known[i].quantity.note, gpu.known[i].quantity.note);
    }
  }
}

TEST(GpuFile, NoChangedByteCrashes) {
  const Gpu* one = &gpus().front();
  const std::string good = gpus_json({&one, 1});
  rc::check([&] {
    std::string text = good;
    const auto changes = *rc::gen::inRange(1, 6);
    for (int i = 0; i < changes; ++i)
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    const auto own = parsed(text);
    if (!own) RC_ASSERT(!own.error().what.empty());
  });
}

TEST(QuantityText, UnitsIgnoreCase) {
  const FactInfo& rate = facts()[static_cast<std::size_t>(Fact::fp16_peak)];
  EXPECT_EQ(parse_quantity(rate, "1.5 pflop/s").value(), 1.5e15);
  EXPECT_EQ(parse_quantity(rate, "989TFLOP/s").value(), 989e12);
  EXPECT_FALSE(parse_quantity(rate, "TFLOP/s"));
  EXPECT_FALSE(parse_quantity(rate, "1e999 TFLOP/s"));
  const FactInfo& memory = facts()[static_cast<std::size_t>(Fact::capacity)];
  EXPECT_EQ(parse_quantity(memory, "24GiB").value(), 24.0 * (1 << 30));
  EXPECT_EQ(parse_quantity(memory, "24 GB").value(), 24e9);
}

}  // namespace
}  // namespace ullage::cli
