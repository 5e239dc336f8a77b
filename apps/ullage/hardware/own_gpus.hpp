// SPDX-License-Identifier: Apache-2.0
// GPUs that the user describes in a file of their own: docs/gpu_file.md.
#pragma once

#include "apps/ullage/flags.hpp"
#include "base/result.hpp"
#include "hardware/catalogue.hpp"

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage::cli {

/// The flag of every command that takes a GPU of the user's own.
inline constexpr Flag gpu_file_flag{"gpu-file", "FILE", "GPUs of your own, which --gpu then knows by their names"};

/// Holds what its GPUs are views of; they live as long as this object.
class OwnGpus {
 public:
  /// A text of one of the GPUs.
  std::string_view keep(std::string text);
  /// Takes a GPU whose texts were kept; its facts in any order.
  void add(Gpu gpu, std::vector<KnownFact> known);
  [[nodiscard]] std::span<const Gpu> gpus() const { return gpus_; }

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<KnownFact>> known_;
  std::vector<Gpu> gpus_;
};

/// Reads such a file. Missing quantities without which no device can be imitated are those of the most alike GPU of the
/// catalogue, known by `assumed`; rates are never assumed. `where` stands for the path in messages. Errors:
/// `bad_input`, naming the field.
[[nodiscard]] Result<OwnGpus> parse_gpu_file(std::string_view text, const std::string& where);

/// The GPUs of --gpu-file, for the life of the program; none without the flag. Errors: as parse_gpu_file, and `io`.
[[nodiscard]] Result<std::span<const Gpu>> own_gpus(const Arguments& arguments);

}  // namespace ullage::cli
