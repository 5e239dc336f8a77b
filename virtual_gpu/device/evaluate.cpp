// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/evaluate.hpp"

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

}  // namespace

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
