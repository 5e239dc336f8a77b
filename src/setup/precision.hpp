// SPDX-License-Identifier: Apache-2.0
// Which tensors a training keeps for each parameter, and how wide they are: by precision and by the framework that
// defines it. Data; bytes per parameter.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ullage::setup {

/// Whose bookkeeping it is.
enum class Framework : std::uint8_t { pytorch, deepspeed, megatron };
[[nodiscard]] std::string_view name_of(Framework framework);

/// One bookkeeping. Sizes in bytes for each parameter that is trained.
struct Precision {
  std::string_view name;  ///< as on the command line: bf16-autocast
  Framework framework;
  std::string_view weight_type;  ///< fp32, bf16, fp16
  std::uint32_t weights;
  std::uint32_t gradients;
  std::uint32_t master;         ///< fp32 copy of the weights that the optimizer updates; 0 for none
  std::uint32_t gradient_copy;  ///< fp32 copy of the gradients for the update; 0 for none
  std::uint32_t state;          ///< each state of the optimizer that is of the parameter's shape
  std::string_view meaning;
  std::string_view source;

  /// True when the optimizer works on a copy of its own.
  [[nodiscard]] bool has_master() const { return master > 0; }
};

/// All bookkeepings; the first of equal names is the one that holds when no framework is named.
[[nodiscard]] std::span<const Precision> precisions();
/// Every name once.
[[nodiscard]] std::vector<std::string_view> precision_names();

/// The bookkeeping of that name, in that framework if one is named. Errors: `usage`, with the nearest names, or the
/// precisions that the framework has.
[[nodiscard]] Result<const Precision*> find_precision(std::string_view name, std::string_view framework);

}  // namespace ullage::setup
