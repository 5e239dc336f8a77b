// SPDX-License-Identifier: Apache-2.0
// What a training log states of its model and batch: printed configs (`"n_embd": 768`), arguments (`--seq-length 4096`,
// `per_device_train_batch_size=4`) and Megatron's table (`hidden_size ........ 4096`).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/oom_message/request_size.hpp"

namespace ullage::ingest {

/// A number as the log states it.
struct StatedNumber {
  std::string key;  ///< as printed
  std::uint64_t value = 0;
  std::uint64_t line = 0;  ///< of the log, from 1
};

/// Read line by line. A dimension that the log states with two values counts as not stated: it may be of two models.
class StatedDimensions {
 public:
  void read(std::string_view text, std::uint64_t line);

  /// Nothing without a hidden size before the line. The defaults are those of read_model_dimensions().
  [[nodiscard]] std::optional<ModelDimensions> model(std::uint64_t before_line) const;
  [[nodiscard]] std::optional<std::uint64_t> micro_batch(std::uint64_t before_line) const;  ///< sequences
  [[nodiscard]] std::optional<std::uint64_t> sequence(std::uint64_t before_line) const;     ///< tokens
  /// What the three above are made of, in the order of the log.
  [[nodiscard]] std::vector<StatedNumber> used(std::uint64_t before_line) const;
  /// Dimensions that were stated with two values, as printed: `hidden_size 768 (line 3) and 1024 (line 9)`.
  [[nodiscard]] std::vector<std::string> contradictory(std::uint64_t before_line) const;

 private:
  enum Dimension : std::uint8_t {
    hidden,
    heads,
    kv_heads,
    head,
    layers,
    vocabulary,
    intermediate,
    gated,
    tied,
    micro_batch_size,
    sequence_length,
    count
  };
  struct Found {
    std::optional<StatedNumber> first, other;
  };
  struct Key {
    std::string_view name;
    Dimension dimension;
  };
  static const Key keys[];
  static const Key* find(std::string_view name);

  void take(Dimension dimension, std::string_view key, std::uint64_t value, std::uint64_t line);
  [[nodiscard]] const StatedNumber* get(Dimension dimension, std::uint64_t before_line) const;
  [[nodiscard]] std::uint64_t value(Dimension dimension, std::uint64_t before_line) const;

  std::array<Found, count> found_;
};

}  // namespace ullage::ingest
