// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/profile.hpp"

#include <charconv>
#include <cstdlib>
#include <map>
#include <string_view>

namespace ullage::vgpu {
namespace {

using Fields = std::map<std::string, std::string, std::less<>>;

Fields split(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const auto end = text.find(';');
    const auto item = text.substr(0, end);
    const auto equals = item.find('=');
    if (equals != item.npos) fields.emplace(item.substr(0, equals), item.substr(equals + 1));
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  return fields;
}

template <class T>
void take_integer(const Fields& fields, std::string_view key, T* out) {
  const auto it = fields.find(key);
  if (it != fields.end()) std::from_chars(it->second.data(), it->second.data() + it->second.size(), *out);
}

void take_number(const Fields& fields, std::string_view key, double* out) {
  const auto it = fields.find(key);
  if (it != fields.end()) *out = std::strtod(it->second.c_str(), nullptr);
}

void take_text(const Fields& fields, std::string_view key, std::string* out) {
  const auto it = fields.find(key);
  if (it != fields.end()) *out = it->second;
}

}  // namespace

Profile parse_profile(const std::string& text) {
  const Fields fields = split(text);
  Profile p;
  take_text(fields, "name", &p.name);
  take_text(fields, "short_name", &p.short_name);
  take_integer(fields, "cc_major", &p.cc_major);
  take_integer(fields, "cc_minor", &p.cc_minor);
  take_integer(fields, "sm_count", &p.sm_count);
  take_integer(fields, "max_threads_per_sm", &p.max_threads_per_sm);
  take_integer(fields, "max_blocks_per_sm", &p.max_blocks_per_sm);
  take_integer(fields, "shared_optin_bytes", &p.shared_optin_bytes);
  take_integer(fields, "l2_bytes", &p.l2_bytes);
  take_integer(fields, "total_bytes", &p.total_bytes);
  take_integer(fields, "context_bytes", &p.context_bytes);
  take_number(fields, "memory_bandwidth", &p.memory_bandwidth);
  take_number(fields, "fp16_flops", &p.fp16_flops);
  take_number(fields, "tf32_flops", &p.tf32_flops);
  take_number(fields, "fp32_flops", &p.fp32_flops);
  take_number(fields, "pcie_bandwidth", &p.pcie_bandwidth);
  take_integer(fields, "clock_khz", &p.clock_khz);
  take_integer(fields, "memory_clock_khz", &p.memory_clock_khz);
  take_integer(fields, "memory_bus_bits", &p.memory_bus_bits);
  take_integer(fields, "wsl_held_bytes", &p.wsl_held_bytes);
  take_integer(fields, "wsl_module_bytes", &p.wsl_module_bytes);
  if (const auto it = fields.find("address_rule"); it != fields.end() && it->second == "wsl")
    p.address_rule = AddressRule::wsl;
  if (const auto it = fields.find("unlimited"); it != fields.end()) p.unlimited = it->second == "1";
  return p;
}

}  // namespace ullage::vgpu
