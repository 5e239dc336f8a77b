// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/device.hpp"

#include "base/bytes.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

constexpr int cuda_major = 13;

std::uint64_t whole(double value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

const Quantity& context_of(const Gpu& gpu) {
  return gpu.context(cuda_major);
}

std::uint64_t context_bytes(const Gpu& gpu) {
  return whole(context_of(gpu).value);
}

Result<void> check_capacity(const Gpu& gpu, std::uint64_t capacity_bytes) {
  const auto context = context_bytes(gpu);
  if (capacity_bytes > context) return {};
  return fail(ErrorKind::usage, "the device would be smaller than its context", "--memory",
              "more than " + format_bytes(context) + ", the total that CUDA shows");
}

report::DeviceInfo device_info(const Gpu& gpu, std::uint64_t capacity_bytes) {
  const Quantity& context = context_of(gpu);
  report::DeviceInfo info;
  info.name = gpu.cuda_name;
  info.short_name = gpu.short_name;
  if (gpu.sxm_by_default())
    info.form_factor_note = fmt::format("{} is the SXM form: a name without a form factor means SXM", gpu.short_name);
  info.compute_capability = fmt::format("{}.{}", gpu.cc_major, gpu.cc_minor);
  info.capacity_bytes = capacity_bytes;
  info.context = {whole(context.value), whole(context.low), whole(context.high), std::string(context.known_by),
                  std::string(context.source)};
  return info;
}

}  // namespace ullage::cli
