// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/options.hpp"

#include "apps/ullage/choice.hpp"
#include "apps/ullage/device.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/paths.hpp"
#include "base/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> one_of(const Arguments& arguments, std::string_view flag,
                           std::initializer_list<std::string_view> allowed) {
  return choice(arguments, flag, {allowed.begin(), allowed.size()}).map([&](std::size_t index) {
    return std::string(allowed.begin()[index]);
  });
}

Result<std::string> steps_of(const Arguments& arguments) {
  const std::string value = arguments.text("steps").value_or("auto");
  const bool digits = !value.empty() && value.size() <= 9 && value.find_first_not_of("0123456789") == value.npos;
  if (value == "auto" || value == "all" || (digits && value.find_first_not_of('0') != value.npos)) return value;
  return fail(ErrorKind::usage, "unknown value '" + value + "'", "--steps", "a number from 1, auto or all");
}

Result<std::string> name_of_run(const Arguments& arguments) {
  const std::string name = arguments.text("name").value_or("");
  const bool odd = name.find_first_of("/,\n\t") != name.npos || name.starts_with('@') || name.starts_with('-');
  if (!odd && !(arguments.given("name") && name.empty())) return name;
  return fail(ErrorKind::usage, "this cannot be the name of a run", "--name '" + name + "'",
              "a word without '/' and ',' that does not begin with '@' or '-'");
}

/// "20261129-215830-train": when, and what.
std::string run_name(const std::vector<std::string>& command) {
  std::string script = fs::path(command.front()).stem().string();
  for (const auto& word : command)
    if (word.size() > 3 && word.ends_with(".py")) {
      script = fs::path(word).stem().string();
      break;
    }
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::localtime(std::time(nullptr)), script.substr(0, 60));
}

Result<std::string> made(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return fail(ErrorKind::io, "cannot make the run directory: " + error.message(), path.string());
  return full_path(path).string();
}

/// A folder that did not exist: two rehearsals may start at once.
Result<std::string> made_anew(const fs::path& runs, const std::string& name) {
  const auto parent = made(runs);
  if (!parent) return parent;
  fs::path path = runs / name;
  std::error_code error;
  for (int i = 2; !fs::create_directory(path, error); ++i) {
    if (error) return fail(ErrorKind::io, "cannot make the run directory: " + error.message(), path.string());
    path = runs / fmt::format("{}-{}", name, i);
  }
  return full_path(path).string();
}

/// The virtual clock needs rates, which a user's own GPU may lack.
Result<void> check_rates(const Gpu& gpu) {
  for (const Fact fact : {Fact::memory_bandwidth, Fact::fp32_peak, Fact::fp16_peak, Fact::pcie_bandwidth})
    if (gpu.find(fact) == nullptr)
      return fail(ErrorKind::usage, "a rehearsal needs a rate that this GPU's file leaves out",
                  fmt::format("--gpu {}", gpu.short_name),
                  fmt::format("quantities.{} in the file", facts()[static_cast<std::size_t>(fact)].name));
  return {};
}

}  // namespace

Result<RehearsalOptions> rehearsal_options(const Arguments& arguments) {
  if (arguments.command.empty())
    return fail(ErrorKind::usage, "no command to rehearse", {}, "ullage rehearse --gpu NAME -- python train.py");
  const auto gpu = chosen_gpu(arguments);
  if (!gpu) return tl::unexpected(gpu.error());
  const auto steps = steps_of(arguments);
  if (!steps) return tl::unexpected(steps.error());
  const auto stacks = one_of(arguments, "stacks", {"python", "all", "none"});
  if (!stacks) return tl::unexpected(stacks.error());
  const auto operators = one_of(arguments, "operators", {"names", "shapes", "off"});
  if (!operators) return tl::unexpected(operators.error());
  const auto rule = one_of(arguments, "address-rule", {"native", "wsl"});
  if (!rule) return tl::unexpected(rule.error());
  const auto routing = one_of(arguments, "routing", {"balanced", "skewed"});
  if (!routing) return tl::unexpected(routing.error());
  const auto cache = one_of(arguments, "compile-cache", {"warm", "cold"});
  if (!cache) return tl::unexpected(cache.error());
  const auto name = name_of_run(arguments);
  if (!name) return tl::unexpected(name.error());
  RehearsalOptions options;
  options.gpu = *gpu;
  options.capacity_bytes = arguments.size("memory").value_or((*gpu)->capacity_bytes());
  options.headroom = arguments.share("headroom").value_or(options.headroom);
  options.reserve_bytes = arguments.size("reserve").value_or(0);
  options.host_bytes = arguments.size("host-memory").value_or(0);
  options.steps = *steps;
  options.stacks = *stacks;
  options.operators = *operators;
  options.routing = *routing;
  options.compile_cache = *cache;
  options.address_rule = *rule;
  options.time_limit = arguments.duration("time-limit").value_or(options.time_limit);
  options.name = *name;
  options.out = arguments.text("out").value_or("");
  options.allow_writes = arguments.given("allow-writes");
  options.json = arguments.given("json");
  options.command = arguments.command;
  if (const auto checked = check_rates(**gpu); !checked) return tl::unexpected(checked.error());
  if (const auto checked = check_capacity(**gpu, options.capacity_bytes); !checked)
    return tl::unexpected(checked.error());
  return options;
}

std::string profile_text(const RehearsalOptions& options, bool unlimited) {
  const Gpu& gpu = *options.gpu;
  std::string text;
  const auto add = [&text](std::string_view key, const auto& value) { text += fmt::format("{}={};", key, value); };
  add("name", gpu.cuda_name);
  add("short_name", gpu.short_name);
  add("cc_major", gpu.cc_major);
  add("cc_minor", gpu.cc_minor);
  add("sm_count", gpu.count(Fact::sm_count));
  add("max_threads_per_sm", gpu.count(Fact::threads_per_sm));
  add("max_blocks_per_sm", gpu.count(Fact::blocks_per_sm));
  add("shared_optin_bytes", gpu.count(Fact::shared_optin_per_block));
  add("l2_bytes", gpu.count(Fact::l2));
  add("total_bytes", options.capacity_bytes);
  add("context_bytes", context_bytes(gpu));
  add("memory_bandwidth", gpu.value(Fact::memory_bandwidth, 1e12));
  add("fp16_flops", gpu.value(Fact::fp16_peak, 100e12));
  add("tf32_flops", gpu.value(Fact::tf32_peak, gpu.value(Fact::fp32_peak, 10e12)));
  add("fp32_flops", gpu.value(Fact::fp32_peak, 10e12));
  add("pcie_bandwidth", gpu.value(Fact::pcie_bandwidth, 16e9));
  add("clock_khz", static_cast<int>(gpu.value(Fact::sm_clock, 1.4e9) / 1e3));
  add("memory_clock_khz", static_cast<int>(gpu.value(Fact::memory_clock, 1.2e9) / 1e3));
  add("memory_bus_bits", gpu.count(Fact::memory_bus));
  add("address_rule", options.address_rule);
  add("unlimited", unlimited ? 1 : 0);
  return text;
}

Result<std::string> make_run_directory(const RehearsalOptions& options) {
  if (options.out.empty()) {
    return made_anew(runs_directory(), run_name(options.command));
  }
  std::error_code error;
  if (fs::exists(options.out, error) && !(fs::is_directory(options.out, error) && fs::is_empty(options.out, error)))
    return fail(ErrorKind::usage, "the run directory is not empty", options.out, "a new or empty folder for --out");
  return made(options.out);
}

}  // namespace ullage::cli
