// SPDX-License-Identifier: Apache-2.0
// The inventory against a library that is a few functions of this test.
#include "inventory/nvml.hpp"

#include "inventory/match.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace ullage::inventory {
namespace {

constexpr int not_supported = 3, unknown_error = 999, lost = 15;

int write(const char* text, char* out, unsigned size) {
  if (std::strlen(text) >= size) return 7;
  std::strcpy(out, text);
  return 0;
}

/// Two GPUs, the second of which has fallen off the bus.
NvmlLibrary two_gpus() {
  NvmlLibrary nvml;
  nvml.init = [] { return 0; };
  nvml.shutdown = [] { return 0; };
  nvml.error_string = [](int status) { return status == lost ? "GPU is lost" : "Unknown Error"; };
  nvml.driver_version = [](char* out, unsigned size) { return write("580.65.06", out, size); };
  nvml.cuda_version = [](int* version) {
    *version = 12090;
    return 0;
  };
  nvml.count = [](unsigned* count) {
    *count = 2;
    return 0;
  };
  nvml.handle = [](unsigned index, void** device) {
    static int first;
    *device = &first;
    return index == 0 ? 0 : lost;
  };
  nvml.name = [](void*, char* out, unsigned size) { return write("NVIDIA A100-SXM4-80GB", out, size); };
  nvml.uuid = [](void*, char*, unsigned) { return not_supported; };
  nvml.memory = [](void*, NvmlMemory* out) {
    *out = {85899345920, 85000000000, 899345920};
    return 0;
  };
  nvml.compute_capability = [](void*, int* major, int* minor) {
    *major = 8;
    *minor = 0;
    return 0;
  };
  return nvml;
}

TEST(Nvml, WhatTheLibraryTells) {
  const auto found = installed_gpus(two_gpus()).value();
  EXPECT_EQ(found.driver, "580.65.06");
  EXPECT_EQ(found.cuda, "12.9");
  ASSERT_EQ(found.gpus.size(), 2u);
  const InstalledGpu& gpu = found.gpus[0];
  EXPECT_EQ(gpu.memory_bytes, 85899345920u);
  EXPECT_EQ(gpu.used_bytes, 899345920u);
  EXPECT_TRUE(gpu.uuid.empty());
  EXPECT_TRUE(gpu.error.empty());
  EXPECT_FALSE(gpu.mig);
  EXPECT_TRUE(match(gpu).exact);
  EXPECT_EQ(match(gpu).gpu->short_name, "a100-80gb");
}

TEST(Nvml, ALostGpuDoesNotHideTheOthers) {
  const auto found = installed_gpus(two_gpus()).value();
  EXPECT_EQ(found.gpus[1].error, "GPU is lost");
  EXPECT_EQ(match(found.gpus[1]).gpu, nullptr);
}

TEST(Nvml, ALibraryThatDoesNotStartSaysWhy) {
  NvmlLibrary nvml = two_gpus();
  nvml.init = [] { return unknown_error; };
  const auto found = installed_gpus(nvml);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "NVML does not start: Unknown Error");
}

TEST(Nvml, InstancesAreNoted) {
  NvmlLibrary nvml = two_gpus();
  nvml.mig_mode = [](void*, unsigned* current, unsigned* pending) {
    *current = *pending = 1;
    return 0;
  };
  EXPECT_TRUE(installed_gpus(nvml).value().gpus[0].mig);
}

InstalledGpu installed(const char* name, double bytes, int major, int minor) {
  InstalledGpu gpu;
  gpu.name = name;
  gpu.memory_bytes = static_cast<std::uint64_t>(bytes);
  gpu.compute_capability = {major, minor};
  return gpu;
}

TEST(Match, CardsOfOneNameAreToldByTheirMemory) {
  constexpr double gib = 1 << 30;
  EXPECT_EQ(match(installed("NVIDIA GeForce RTX 4060 Ti", 8 * gib, 8, 9)).gpu->short_name, "rtx4060ti-8gb");
  EXPECT_EQ(match(installed("NVIDIA GeForce RTX 4060 Ti", 16 * gib, 8, 9)).gpu->short_name, "rtx4060ti-16gb");
}

TEST(Match, AnotherMemoryIsNotExact) {
  const Match found = match(installed("NVIDIA H20", 150e9, 9, 0));
  EXPECT_EQ(found.gpu->short_name, "h20-96gb");
  EXPECT_FALSE(found.exact);
  EXPECT_FALSE(found.difference.empty());
}

TEST(Match, AnUnknownNameIsNearestByCapabilityAndMemory) {
  const Match found = match(installed("NVIDIA RTX 6000 Ada Generation", 51e9, 8, 9));
  ASSERT_NE(found.gpu, nullptr);
  EXPECT_EQ(found.gpu->short_name, "l40s");
  EXPECT_FALSE(found.exact);
  EXPECT_EQ(match(installed("Old card", 8e9, 5, 2)).gpu, nullptr);
}

/// Every card of the catalogue is found by what NVML would say: up to 7 % more memory than CUDA shows.
TEST(Match, EveryCardOfTheCatalogueIsItself) {
  for (const Gpu& gpu : gpus()) {
    const std::string name(gpu.cuda_name);
    const Match found = match(installed(name.c_str(), gpu.value(Fact::capacity) * 1.02, gpu.cc_major, gpu.cc_minor));
    EXPECT_EQ(found.gpu, &gpu) << gpu.short_name;
    EXPECT_TRUE(found.exact);
  }
}

}  // namespace
}  // namespace ullage::inventory
