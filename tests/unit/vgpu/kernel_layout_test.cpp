// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/kernel_layout.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>
#include <thread>

namespace ullage::vgpu {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes* bytes, std::size_t at, T value) {
  if (bytes->size() < at + sizeof value) bytes->resize(at + sizeof value);
  std::memcpy(bytes->data() + at, &value, sizeof value);
}

void put_text(Bytes* bytes, std::size_t at, const char* text) {
  for (std::size_t i = 0; i <= std::strlen(text); ++i) put(bytes, at + i, text[i]);
}

/// One attribute of a parameter: format 4, number 0x17, 12 bytes.
void put_parameter(Bytes* bytes, std::size_t at, std::uint16_t ordinal, std::uint16_t offset, std::uint32_t size) {
  put(bytes, at, std::uint8_t{4});
  put(bytes, at + 1, std::uint8_t{0x17});
  put(bytes, at + 2, std::uint16_t{12});
  put(bytes, at + 4, std::uint32_t{0});
  put(bytes, at + 8, ordinal);
  put(bytes, at + 10, offset);
  put(bytes, at + 12, size << 18 | 0x1f000);
}

constexpr std::size_t attributes_at = 0x100, names_at = 0x180, sections_at = 0x200;

/// A cubin with the kernel `_Z1fPfi`: parameters of 8 bytes at 0 and of 4 bytes at 8, listed backwards.
Bytes cubin() {
  Bytes image;
  put(&image, 0, std::uint32_t{0x464c457f});
  put(&image, 4, std::uint8_t{2});
  put(&image, 40, std::uint64_t{sections_at});
  put(&image, 60, std::uint16_t{3});
  put(&image, 62, std::uint16_t{1});
  put(&image, attributes_at, std::uint32_t{0x00002f01});  // an attribute without a payload
  put_parameter(&image, attributes_at + 4, 1, 8, 4);
  put_parameter(&image, attributes_at + 20, 0, 0, 8);
  put_text(&image, names_at + 1, ".shstrtab");
  put_text(&image, names_at + 16, ".nv.info._Z1fPfi");
  const auto section = [&](std::size_t index, std::uint32_t name, std::uint64_t offset, std::uint64_t bytes) {
    const std::size_t at = sections_at + index * 64;
    put(&image, at, name);
    put(&image, at + 24, offset);
    put(&image, at + 32, bytes);
    put(&image, at + 56, std::uint64_t{0});
  };
  section(0, 0, 0, 0);
  section(1, 1, names_at, 64);
  section(2, 16, attributes_at, 36);
  return image;
}

void append_entry(Bytes* container, const Bytes& payload, std::uint64_t raw, std::uint64_t flags, std::uint32_t arch) {
  const std::size_t at = container->size();
  put(container, at, std::uint16_t{2});
  put(container, at + 4, std::uint32_t{64});
  put(container, at + 8, std::uint64_t{payload.size()});
  put(container, at + 28, arch);
  put(container, at + 40, flags);
  put(container, at + 56, raw);
  container->insert(container->end(), payload.begin(), payload.end());
}

Bytes compressed(const Bytes& raw) {
  Bytes out(ZSTD_compressBound(raw.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3));
  return out;
}

struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  const void* file_name = nullptr;
};

Bytes container(const Bytes& payload, std::uint64_t raw, std::uint64_t flags) {
  Bytes bytes;
  put(&bytes, 0, std::uint32_t{0xba55ed50});
  put(&bytes, 4, std::uint16_t{1});
  put(&bytes, 6, std::uint16_t{16});
  put(&bytes, 8, std::uint64_t{0});
  append_entry(&bytes, payload, raw, flags, 80);
  put(&bytes, 8, std::uint64_t{bytes.size() - 16});
  return bytes;
}

const std::vector<ParameterSlot> expected{{0, 8}, {8, 4}};

TEST(KernelLayout, ReadsAPlainCubin) {
  const Bytes image = cubin();
  EXPECT_EQ(KernelLayout(image.data()).parameters("_Z1fPfi"), expected);
}

/// What a compiler writes down of its kernels: symbol 1 is `f`, with 64 registers and a stack of 48 bytes.
Bytes cubin_with_resources() {
  constexpr std::size_t strings_at = 0x100, symbols_at = 0x140, info_at = 0x180, table_at = 0x200;
  Bytes image;
  put(&image, 0, std::uint32_t{0x464c457f});
  put(&image, 4, std::uint8_t{2});
  put(&image, 40, std::uint64_t{table_at});
  put(&image, 60, std::uint16_t{5});
  put(&image, 62, std::uint16_t{1});
  put_text(&image, strings_at + 1, ".nv.info");
  put_text(&image, strings_at + 10, ".nv.shared.f");
  put_text(&image, strings_at + 30, "f");
  put(&image, symbols_at + 24, std::uint32_t{30});
  put(&image, symbols_at + 44, std::uint32_t{0});
  const std::uint32_t attributes[] = {0x00082f04, 1, 64, 0x00081104, 1, 48};
  for (std::size_t i = 0; i < 6; ++i) put(&image, info_at + 4 * i, attributes[i]);
  const auto section = [&](std::size_t index, std::uint32_t name, std::uint32_t type, std::uint64_t offset,
                           std::uint64_t bytes) {
    const std::size_t at = table_at + index * 64;
    put(&image, at, name);
    put(&image, at + 4, type);
    put(&image, at + 24, offset);
    put(&image, at + 32, bytes);
    put(&image, at + 40, std::uint32_t{1});  // names of symbols are in section 1
    put(&image, at + 56, std::uint64_t{0});
  };
  section(0, 0, 0, 0, 0);
  section(1, 0, 3, strings_at, 64);
  section(2, 0, 2, symbols_at, 48);
  section(3, 1, 0x70000000, info_at, 24);
  section(4, 10, 8, 0x200, 2048);
  return image;
}

TEST(KernelResources, AreThoseThatTheCompilerWroteDown) {
  const ResourceTable table = read_resources(cubin_with_resources());
  ASSERT_EQ(table.size(), 1u);
  EXPECT_EQ(table.at("f"), (KernelResources{64, 48, 2048}));
}

TEST(KernelResources, SurviveEveryCutAndEveryDamagedByte) {
  const Bytes good = cubin_with_resources();
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_LE(read_resources(std::span(good).first(i)).size(), 1u);
    Bytes image = good;
    image[i] ^= std::byte{0xff};
    read_resources(image);
  }
}

TEST(KernelLayout, ReadsACompressedFatBinary) {
  const Bytes image = cubin(), fat = container(compressed(image), image.size(), 0x8000);
  Wrapper wrapper;
  wrapper.data = fat.data();
  KernelLayout layout(&wrapper, 80);
  EXPECT_EQ(layout.parameters("_Z1fPfi"), expected);
  EXPECT_TRUE(layout.parameters("_Z1gv").empty());
}

TEST(KernelLayout, GivesNothingForForeignBytes) {
  const std::uint64_t zeros[8] = {};
  EXPECT_TRUE(KernelLayout(zeros).parameters("_Z1fPfi").empty());
  EXPECT_TRUE(KernelLayout(nullptr).parameters("_Z1fPfi").empty());
  Wrapper wrapper;
  EXPECT_TRUE(KernelLayout(&wrapper).parameters("_Z1fPfi").empty());
}

TEST(KernelLayout, SurvivesEveryCut) {
  const Bytes image = cubin();
  for (std::size_t length = 0; length < image.size(); ++length) {
    const Bytes cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_LE(read_cubin(cut).size(), 1u);
  }
}

TEST(KernelLayout, SurvivesEveryDamagedByte) {
  const Bytes good = cubin();
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes image = good;
    image[i] ^= std::byte{0xff};
    read_cubin(image);
    const Bytes fat = container(compressed(image), image.size(), 0x8000);
    KernelLayout(fat.data()).parameters("_Z1fPfi");
  }
}

TEST(KernelLayout, SurvivesADamagedArchive) {
  const Bytes image = cubin(), good = container(compressed(image), image.size(), 0x8000);
  for (std::size_t i = 16; i < good.size(); ++i) {
    if (i >= 16 + 56 && i < 16 + 64) continue;  // the raw size only says how much memory to take
    Bytes fat = good;
    fat[i] ^= std::byte{0x5a};
    KernelLayout(fat.data()).parameters("_Z1fPfi");
  }
}

TEST(KernelLayout, AnswersSeveralThreads) {
  const Bytes image = cubin(), fat = container(compressed(image), image.size(), 0x8000);
  KernelLayout layout(fat.data());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_EQ(layout.parameters("_Z1fPfi"), expected); });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace ullage::vgpu
