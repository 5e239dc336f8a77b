// SPDX-License-Identifier: Apache-2.0
// Kernels that are really executed, and which memory the others may write: read from the mangled name and arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

/// A fill of `count` elements of `value_bytes` (1, 2, 4, 8 or 16) at `destination`.
struct FillKernel {
  std::uint64_t destination = 0;
  std::uint64_t count = 0;
  std::uint32_t value_bytes = 0;
  const void* value = nullptr;
};

/// ATen's element-wise fill: parameters {int count, functor {T value}, std::array<char*, 1>}.
std::optional<FillKernel> as_fill(const KernelLaunch& launch);

/// Output address of ATen's element-wise kernels (the first pointer of their array), 0 for any other kernel.
std::uint64_t elementwise_output(const KernelLaunch& launch);

/// The tensors that one of ATen's multi-tensor kernels works on. Its parameter is a struct with room for more of them
/// than are used; what lies behind the used ones is left over from earlier calls and must not be taken for addresses.
struct TensorLists {
  const void* addresses = nullptr;  ///< `lists` rows of `capacity` pointers
  std::size_t lists = 0;
  std::size_t capacity = 0;
  std::size_t used = 0;  ///< per row
};

/// Nothing for other kernels, and for a struct that does not look as expected.
std::optional<TensorLists> tensor_lists(const KernelLaunch& launch);

/// Calls visit(word) for every aligned 8-byte word of the parameters: whatever may be an address.
template <class Visit>
void for_each_word(const KernelLaunch& launch, Visit visit) {
  if (!launch.arguments) return;
  for (std::size_t i = 0; i < launch.parameters.size(); ++i)
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= launch.parameters[i].size; at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, static_cast<const char*>(launch.arguments[i]) + at, sizeof(word));
      visit(word);
    }
}

}  // namespace ullage::vgpu
