// SPDX-License-Identifier: Apache-2.0
// Where the parameters of a kernel lie, read from the images that a library registers with the CUDA runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace ullage::vgpu {

struct ParameterSlot {
  std::uint16_t offset = 0;
  std::uint16_t size = 0;
  bool operator==(const ParameterSlot&) const = default;
};

/// Mangled kernel name -> its parameters in order.
using ParameterTable = std::map<std::string, std::vector<ParameterSlot>, std::less<>>;

/// What a kernel takes of a multiprocessor.
struct KernelResources {
  std::uint32_t registers = 0;     ///< per thread
  std::uint32_t local_bytes = 0;   ///< per thread: its stack, where registers are spilled to
  std::uint64_t shared_bytes = 0;  ///< per block, without what a launch adds
  bool operator==(const KernelResources&) const = default;
};

/// Mangled kernel name -> its resources.
using ResourceTable = std::map<std::string, KernelResources, std::less<>>;

/// The resources of every kernel of one cubin, as its compiler wrote them down.
ResourceTable read_resources(std::span<const std::byte> image);

/// The bytes of the ELF image at `image`; empty when there is none.
std::span<const std::byte> elf_image(const void* image);

/// The parameters of every kernel of one cubin (an ELF image). Damaged bytes give what was read up to the damage.
ParameterTable read_cubin(std::span<const std::byte> image);

/// One registered fat binary. Nothing is read before the first question; then the images are taken apart one by one
/// (those of the wanted architecture first) until the kernel is found. Safe to ask from several threads.
class KernelLayout {
 public:
  /// `fat_binary` is the pointer given to __cudaRegisterFatBinary, or to a plain cubin; it must stay valid.
  /// `architecture` is 80 for compute capability 8.0.
  explicit KernelLayout(const void* fat_binary, int architecture = 0)
      : fat_binary_(fat_binary), architecture_(architecture) {}

  /// Empty for a kernel that has no parameters or is not known.
  std::vector<ParameterSlot> parameters(const char* mangled);

 private:
  struct Image {
    std::span<const std::byte> bytes;
    std::uint64_t raw_bytes = 0;
    std::uint64_t flags = 0;
    std::uint32_t architecture = 0;
  };

  void list_images();
  void read_container(std::span<const std::byte> bytes);
  bool read_next_image();
  static std::vector<std::byte> decompress(const Image& image);

  const void* fat_binary_;
  int architecture_;
  std::mutex mutex_;
  bool listed_ = false;
  std::vector<Image> images_;  ///< not read yet; the next one is the last
  ParameterTable table_;
};

}  // namespace ullage::vgpu
