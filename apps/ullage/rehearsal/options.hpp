// SPDX-License-Identifier: Apache-2.0
// What a rehearsal is asked to do: the flags of `ullage rehearse`, checked.
#pragma once

#include "apps/ullage/flags.hpp"
#include "base/result.hpp"
#include "hardware/catalogue.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

struct RehearsalOptions {
  const Gpu* gpu = nullptr;
  std::uint64_t capacity_bytes = 0;  ///< --memory, else the card's
  double headroom = 0.15;
  std::uint64_t reserve_bytes = 0;
  std::uint64_t host_bytes = 0;  ///< --host-memory; 0: this machine's
  std::string steps;             ///< a number, auto, all
  std::string stacks;            ///< python, all, none
  std::string operators;         ///< names, shapes, off
  std::string address_rule;      ///< native, wsl
  std::string routing;           ///< balanced, skewed
  std::string compile_cache;     ///< warm, cold
  std::chrono::milliseconds time_limit{0};
  std::string name;           ///< of the run; empty: the script's
  std::string out;            ///< empty: a new folder of the data directory
  bool allow_writes = false;  ///< the user's files are not protected
  bool json = false;
  std::vector<std::string> command;
};

/// Errors: `usage` for a missing GPU (lists the names), a missing command, a value that is none of the allowed.
[[nodiscard]] Result<RehearsalOptions> rehearsal_options(const Arguments& arguments);

/// The device profile as the stand-ins read it (virtual_gpu/device/profile.hpp). `unlimited`: charge everything, refuse
/// nothing.
[[nodiscard]] std::string profile_text(const RehearsalOptions& options, bool unlimited);

/// Absolute path of the run directory, made anew. Errors: `usage` when --out names something that is not empty; `io`.
[[nodiscard]] Result<std::string> make_run_directory(const RehearsalOptions& options);

}  // namespace ullage::cli
