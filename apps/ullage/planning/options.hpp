// SPDX-License-Identifier: Apache-2.0
// What `ullage plan` is asked for: its flags, checked.
#pragma once

#include "apps/ullage/flags.hpp"
#include "apps/ullage/planning/cost.hpp"
#include "base/result.hpp"
#include "hardware/catalogue.hpp"
#include "model/sizes.hpp"
#include "planner/states.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

/// Flags by model::SizeOf.
inline constexpr std::array<const char*, model::size_count> size_flags{"layers",   "hidden",       "heads",
                                                                       "kv-heads", "intermediate", "vocab"};

inline constexpr std::uint64_t most_tokens = 1 << 24;  ///< of a sequence

struct PlanOptions {
  std::string model;                        ///< a path, a name or a hub id; empty with --params and --family
  std::optional<std::uint64_t> parameters;  ///< --params
  std::string family;                       ///< of a model that the sizes make; empty with a model
  model::Sizes sizes;                       ///< in the place of the model's
  std::uint64_t longest_sequence = 0;       ///< of --seq and --cache, for which a model of sizes has positions
  planner::Training training;
  bool train = true;
  std::vector<std::string> assumed;  ///< flags that were not given
  std::vector<const Gpu*> gpus;      ///< may be empty
  std::optional<std::uint64_t> memory_bytes;
  double headroom = 0.15;
  std::uint64_t reserve_bytes = 0;
  bool explain = false;
  TrainingLength length;
};

/// Errors: `usage` for the first of these flags that was given: inference has no such thing.
[[nodiscard]] Result<void> refuse_in_inference(const Arguments& arguments, std::initializer_list<const char*> flags);

/// Errors: `usage`, naming the flag and what is allowed.
[[nodiscard]] Result<PlanOptions> plan_options(const Arguments& arguments);

}  // namespace ullage::cli
