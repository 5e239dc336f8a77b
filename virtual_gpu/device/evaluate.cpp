// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/evaluate.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace ullage::vgpu {
namespace {

constexpr std::string_view fill_marker = "11FillFunctorI";

struct MangledType {
  std::string_view code;
  std::uint32_t bytes;
};

// The element type's mangled spelling right after FillFunctor<.
constexpr MangledType element_types[] = {
    {"f", 4},
    {"d", 8},
    {"i", 4},
    {"l", 8},
    {"x", 8},
    {"s", 2},
    {"a", 1},
    {"h", 1},
    {"b", 1},
    {"j", 4},
    {"m", 8},
    {"t", 2},
    {"N3c108BFloat16E", 2},
    {"N3c104HalfE", 2},
    {"N3c107complexIfEE", 8},
    {"N3c107complexIdEE", 16},
};

std::uint32_t element_bytes(std::string_view mangled) {
  for (const auto& type : element_types)
    if (mangled.substr(0, type.code.size()) == type.code) return type.bytes;
  return 0;
}

bool is_elementwise(std::string_view name) {
  return name.find("vectorized_elementwise_kernel") != name.npos ||
         name.find("unrolled_elementwise_kernel") != name.npos;
}

template <class T>
T argument(const KernelLaunch& launch, int index) {
  T value;
  std::memcpy(&value, launch.arguments[index], sizeof(value));
  return value;
}

// ATen's TensorListMetadata, TensorListScalarListMetadata and FusedOptimizerTensorListMetadata: rows of addresses, then
// the element counts, then one further value a tensor or none, then the tensor of each block.
constexpr std::size_t list_capacity[] = {110, 64, 48, 36, 30};
constexpr std::size_t scalar_list_capacity[] = {96, 64, 48, 36, 30};
constexpr std::size_t most_blocks = 320;

std::size_t digits_after(std::string_view name, std::string_view marker) {
  const auto at = name.find(marker);
  if (at == name.npos || at + marker.size() >= name.size()) return 0;
  const char digit = name[at + marker.size()];
  return digit >= '1' && digit <= '5' ? static_cast<std::size_t>(digit - '0') : 0;
}

struct ListShape {
  std::size_t lists = 0;
  std::size_t capacity = 0;
  std::size_t extra = 0;  // bytes of the further value
};

std::optional<ListShape> list_shape(std::string_view name) {
  if (name.find("multi_tensor_apply_kernel") == name.npos) return std::nullopt;
  if (const auto lists = digits_after(name, "FusedOptimizerTensorListMetadataILi"))
    return ListShape{lists, list_capacity[lists - 1], 8};
  if (const auto lists = digits_after(name, "TensorListScalarListMetadataIfLi"))
    return ListShape{lists, scalar_list_capacity[lists - 1], 4};
  if (const auto lists = digits_after(name, "18TensorListMetadataILi"))
    return ListShape{lists, list_capacity[lists - 1], 0};
  return std::nullopt;
}

}  // namespace

std::optional<TensorLists> tensor_lists(const KernelLaunch& launch) {
  const auto shape = list_shape(launch.name);
  if (!shape || !launch.arguments || launch.parameters.empty()) return std::nullopt;
  const std::size_t blocks_at = shape->capacity * (8 * shape->lists + 8 + shape->extra);
  const std::size_t blocks = launch.grid[0];
  if (blocks > most_blocks || launch.parameters[0].size < blocks_at + most_blocks) return std::nullopt;
  const auto* tensor_of_block = static_cast<const unsigned char*>(launch.arguments[0]) + blocks_at;
  std::size_t used = 0;
  for (std::size_t i = 0; i < blocks; ++i) used = std::max<std::size_t>(used, tensor_of_block[i] + std::size_t{1});
  if (used > shape->capacity) return std::nullopt;
  return TensorLists{launch.arguments[0], shape->lists, shape->capacity, used};
}

std::optional<FillKernel> as_fill(const KernelLaunch& launch) {
  const std::string_view name = launch.name;
  const auto marker = name.find(fill_marker);
  if (marker == name.npos || !launch.arguments || !is_elementwise(name)) return std::nullopt;
  FillKernel fill;
  fill.value_bytes = element_bytes(name.substr(marker + fill_marker.size()));
  const auto count = argument<std::int32_t>(launch, 0);
  if (fill.value_bytes == 0 || count <= 0) return std::nullopt;
  fill.count = static_cast<std::uint64_t>(count);
  fill.value = launch.arguments[1];
  fill.destination = argument<std::uint64_t>(launch, 2);
  return fill;
}

std::uint64_t elementwise_output(const KernelLaunch& launch) {
  if (!launch.arguments || !is_elementwise(launch.name)) return 0;
  return argument<std::uint64_t>(launch, 2);
}

}  // namespace ullage::vgpu
