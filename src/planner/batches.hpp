// SPDX-License-Identifier: Apache-2.0
// How sequences of different lengths are put into batches, and how much of what is computed is padding then.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ullage::planner {

/// The longest sequence that is believed, in tokens: sums of 2^32 of them fit 64 bits.
inline constexpr std::uint32_t longest_sequence = 1'000'000'000;

/// Lengths in tokens, before anything is cut.
struct LengthStatistics {
  std::uint64_t sequences = 0;
  std::uint64_t tokens = 0;
  std::uint32_t longest = 0;
  double mean = 0;
  double median = 0;      ///< the mean of the two in the middle where the number is even
  std::uint32_t p90 = 0;  ///< nearest rank: the shortest length that 90 % of the sequences do not exceed
  std::uint32_t p99 = 0;
};

/// How batches are made.
struct BatchOptions {
  std::uint64_t micro_batch = 8;            ///< sequences a batch, at least 1
  std::optional<std::uint32_t> max_length;  ///< longer sequences are cut to it; at least 1
  std::uint64_t buckets = 8;                ///< at least 1
  std::uint64_t seed = 0;                   ///< of the random order
};

enum class Batching : std::uint8_t {
  maximum,   ///< every sequence padded to max_length, without one to the longest
  random,    ///< in random order, each batch padded to its own longest
  sorted,    ///< by length, the longest first, each batch padded to its own longest
  bucketed,  ///< by length into `buckets` of equal number, each padded to the longest of its bucket
};

/// maximum, random, sorted, bucketed
[[nodiscard]] std::string_view name_of(Batching batching);

/// One batch: `sequences` x `length` tokens.
struct Batch {
  std::uint64_t sequences = 0;
  std::uint32_t length = 0;  ///< padding included
  [[nodiscard]] std::uint64_t tokens() const { return sequences * length; }
};

/// One pass over all sequences.
struct BatchingCost {
  Batching batching;
  std::uint64_t tokens = 0;   ///< computed, padding included
  std::uint64_t padding = 0;  ///< of these
  std::uint64_t batches = 0;
  Batch largest;  ///< the one with most tokens: it must fit
  /// Padding as a part of the tokens computed.
  [[nodiscard]] double padding_share() const { return static_cast<double>(padding) / static_cast<double>(tokens); }
};

struct Batches {
  LengthStatistics lengths;
  std::uint64_t truncated = 0;       ///< sequences that max_length cuts
  std::uint64_t cut = 0;             ///< tokens that are lost by it
  std::uint64_t tokens = 0;          ///< real ones, after the cut
  std::array<BatchingCost, 4> ways;  ///< in the order of Batching
};

/// What each way of batching costs. A last batch may be smaller than the others. The same lengths and seed give the
/// same result on every machine. Errors: `bad_input` for no sequence, for sequences without any token, and for one
/// above longest_sequence; `usage` for an option below its least.
[[nodiscard]] Result<Batches> plan_batches(std::span<const std::uint32_t> lengths, const BatchOptions& options);

}  // namespace ullage::planner
