// SPDX-License-Identifier: Apache-2.0
// A fat binary: a wrapper that points to a container; the container is a header and entries, each with its own header.
#include "virtual_gpu/device/kernel_layout.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "virtual_gpu/device/bytes_view.hpp"

namespace ullage::vgpu {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t container_magic = 0xba55ed50;
constexpr std::uint32_t elf_magic = 0x464c457f;
constexpr std::uint16_t elf_kind = 2;
constexpr std::uint64_t zstd_flag = 0x8000;
constexpr std::uint64_t lz4_flag = 0x2000;
constexpr std::uint64_t largest_image = 4ull << 30;

struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* file_name;
};

struct Container {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;  ///< of all entries
};

template <class T>
T read(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The extent of an ELF image in memory: up to the end of its section table, which linkers put last, or its segments.
std::uint64_t elf_bytes(const void* image) {
  const auto* first = static_cast<const std::byte*>(image);
  const auto sections = read<std::uint64_t>(first + 40), segments = read<std::uint64_t>(first + 32);
  const std::uint64_t section_count = read<std::uint16_t>(first + 60);
  const std::uint64_t segment_count = read<std::uint16_t>(first + 56);
  return std::max(sections + section_count * 64, segments + segment_count * 56);
}

}  // namespace

std::span<const std::byte> elf_image(const void* image) {
  if (image == nullptr || read<std::uint32_t>(image) != elf_magic) return {};
  return {static_cast<const std::byte*>(image), elf_bytes(image)};
}

std::vector<ParameterSlot> KernelLayout::parameters(const char* mangled) {
  const std::lock_guard lock(mutex_);
  if (!listed_) list_images();
  for (;;) {
    const auto found = table_.find(mangled);
    if (found != table_.end()) return found->second;
    if (!read_next_image()) return {};
  }
}

void KernelLayout::list_images() {
  listed_ = true;
  if (fat_binary_ == nullptr) return;
  const auto magic = read<std::uint32_t>(fat_binary_);
  const void* data = fat_binary_;
  if (const auto elf = elf_image(data); !elf.empty()) {
    images_.push_back({elf, 0, 0, 0});
    return;
  }
  if (magic == wrapper_magic) data = read<Wrapper>(fat_binary_).data;
  if (data == nullptr || read<std::uint32_t>(data) != container_magic) return;
  const auto container = read<Container>(data);
  if (container.bytes > largest_image) return;
  read_container({static_cast<const std::byte*>(data) + container.header_bytes, container.bytes});
  // Read from the back: the wanted architecture last.
  std::stable_partition(images_.begin(), images_.end(),
                        [this](const Image& image) { return static_cast<int>(image.architecture) != architecture_; });
}

void KernelLayout::read_container(std::span<const std::byte> bytes) {
  const BytesView view(bytes);
  for (std::uint64_t at = 0; at < bytes.size();) {
    const auto kind = view.at<std::uint16_t>(at);
    const auto header = view.at<std::uint32_t>(at + 4);
    const auto payload = view.at<std::uint64_t>(at + 8);
    const auto raw = view.at<std::uint64_t>(at + 56);
    if (!kind || !header || !payload || !raw || *header < 64) return;
    const auto compressed = *view.at<std::uint32_t>(at + 16);
    const auto image = view.range(at + *header, *payload);
    if (image.empty()) return;
    const bool is_shorter = compressed != 0 && compressed < *payload;
    if (*kind == elf_kind)
      images_.push_back({is_shorter ? image.first(compressed) : image, *raw, *view.at<std::uint64_t>(at + 40),
                         *view.at<std::uint32_t>(at + 28)});
    at += *header + *payload;
  }
}

bool KernelLayout::read_next_image() {
  if (images_.empty()) return false;
  const Image image = images_.back();
  images_.pop_back();
  if ((image.flags & lz4_flag) != 0) return true;  // not read: no wheel of this CUDA major has it
  if ((image.flags & zstd_flag) == 0) {
    table_.merge(read_cubin(image.bytes));
  } else {
    table_.merge(read_cubin(decompress(image)));
  }
  return true;
}

std::vector<std::byte> KernelLayout::decompress(const Image& image) {
  if (image.raw_bytes == 0 || image.raw_bytes > largest_image) return {};
  std::vector<std::byte> raw(image.raw_bytes);
  const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), image.bytes.data(), image.bytes.size());
  if (ZSTD_isError(got) != 0u) return {};
  raw.resize(got);
  return raw;
}

}  // namespace ullage::vgpu
