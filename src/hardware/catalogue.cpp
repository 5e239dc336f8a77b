// SPDX-License-Identifier: Apache-2.0
#include "hardware/catalogue.hpp"

#include "base/text.hpp"
#include "hardware/tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ullage {
namespace {

constexpr std::array fact_table{
#define ULLAGE_FACT(name, unit, meaning) FactInfo{Fact::name, #name, unit, meaning},
#include "hardware/facts.def"
#undef ULLAGE_FACT
};

bool is_called(const Gpu& gpu, std::string_view name) {
  return equal_ignoring_case(gpu.short_name, name) ||
         std::any_of(gpu.aliases.begin(), gpu.aliases.end(),
                     [&](std::string_view alias) { return equal_ignoring_case(alias, name); });
}

std::vector<std::string_view> short_names(std::span<const Gpu> own) {
  std::vector<std::string_view> names;
  for (const Gpu& gpu : own) names.push_back(gpu.short_name);
  for (const Gpu& gpu : gpus()) names.push_back(gpu.short_name);
  return names;
}

tl::unexpected<Error> unknown_gpu(std::string_view name, std::span<const Gpu> own) {
  const std::vector<std::string_view> names = short_names(own);
  std::string hint = suggestion(name, names, 6);
  if (hint.empty()) {
    hint = "known names:";
    for (const std::string_view known : names) hint += " " + std::string(known);
  }
  return fail(ErrorKind::usage, "unknown GPU", "'" + std::string(name) + "'", "a name that 'ullage gpus' lists", hint);
}

/// By the name that CUDA shows, which cards of different memory may share.
Result<const Gpu*> find_by_cuda_name(std::string_view name, std::span<const Gpu> own) {
  std::vector<const Gpu*> found;
  for (const auto list : {own, gpus()}) {
    for (const Gpu& gpu : list)
      if (equal_ignoring_case(gpu.cuda_name, name)) found.push_back(&gpu);
    if (!found.empty()) break;
  }
  if (found.empty()) return unknown_gpu(name, own);
  if (found.size() == 1) return found.front();
  std::string hint = "known:";
  for (const Gpu* gpu : found) hint += " " + std::string(gpu->short_name);
  return fail(ErrorKind::usage, "several GPUs have this name", "'" + std::string(name) + "'",
              "one of their short names", hint);
}

}  // namespace

std::span<const FactInfo> facts() {
  return fact_table;
}

const Quantity* Gpu::find(Fact fact) const {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const KnownFact& entry) { return entry.fact == fact; });
  return found == known.end() ? nullptr : &found->quantity;
}

double Gpu::value(Fact fact, double fallback) const {
  const Quantity* quantity = find(fact);
  return quantity ? quantity->value : fallback;
}

const Quantity& Gpu::context(int cuda_major) const {
  const Fact fact = cuda_major <= 11   ? Fact::context_cuda11
                    : cuda_major == 12 ? Fact::context_cuda12
                                       : Fact::context_cuda13;
  return *find(fact);  // the table has all three for every GPU (compile_catalogue checks)
}

bool Gpu::sxm_by_default() const {
  return form_factor == "SXM" && short_name.find("sxm") == std::string_view::npos;
}

std::span<const Gpu> gpus() {
  return hardware_tables::gpus();
}

Result<const Gpu*> find_gpu(std::string_view name, std::span<const Gpu> own) {
  const std::string_view wanted = trim(name);
  for (const auto list : {own, gpus()})
    for (const Gpu& gpu : list)
      if (is_called(gpu, wanted)) return &gpu;
  return find_by_cuda_name(wanted, own);
}

const Gpu* most_alike(int cc_major, int cc_minor, std::uint64_t sm_count) {
  const auto distance = [&](const Gpu& gpu) {
    const double multiprocessors = gpu.value(Fact::sm_count) - static_cast<double>(sm_count);
    return std::pair(std::abs(gpu.cc_minor - cc_minor), std::abs(multiprocessors));
  };
  const Gpu* nearest = nullptr;
  for (const Gpu& gpu : gpus())
    if (gpu.cc_major == cc_major && (nearest == nullptr || distance(gpu) < distance(*nearest))) nearest = &gpu;
  return nearest;
}

}  // namespace ullage
