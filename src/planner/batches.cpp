// SPDX-License-Identifier: Apache-2.0
#include "planner/batches.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ullage::planner {
namespace {

using Lengths = std::vector<std::uint32_t>;
using View = std::span<const std::uint32_t>;

std::uint64_t sum(View lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
}

/// `percent` of the sequences, rounded up, are at most so long. `sorted` from long to short.
std::uint32_t nearest_rank(View sorted, std::uint64_t percent) {
  const std::uint64_t rank = (percent * sorted.size() + 99) / 100;
  return sorted[sorted.size() - rank];
}

LengthStatistics statistics(View sorted) {
  LengthStatistics result;
  const std::size_t middle = sorted.size() / 2;
  result.sequences = sorted.size();
  result.tokens = sum(sorted);
  result.longest = sorted.front();
  result.mean = static_cast<double>(result.tokens) / static_cast<double>(sorted.size());
  result.median = sorted.size() % 2 == 1
                      ? static_cast<double>(sorted[middle])
                      : (static_cast<double>(sorted[middle - 1]) + static_cast<double>(sorted[middle])) / 2;
  result.p90 = nearest_rank(sorted, 90);
  result.p99 = nearest_rank(sorted, 99);
  return result;
}

/// A number below `bound`, each equally likely. std::uniform_int_distribution differs from library to library.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t reject_from = random.max() - (random.max() % bound + 1) % bound;
  std::uint64_t number = random();
  while (number > reject_from) number = random();
  return number % bound;
}

void shuffle(Lengths& lengths, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = lengths.size(); i > 1; --i) std::swap(lengths[i - 1], lengths[below(random, i)]);
}

void add(BatchingCost& cost, const Batch& batch) {
  cost.tokens += batch.tokens();
  ++cost.batches;
  if (batch.tokens() > cost.largest.tokens() || cost.batches == 1) cost.largest = batch;
}

/// Batches in the order given; `length_of` says to which length each is padded.
void add_batches(BatchingCost& cost, View lengths, std::uint64_t micro_batch,
                 const std::function<std::uint32_t(View)>& length_of) {
  for (std::size_t at = 0; at < lengths.size();) {
    const View batch = lengths.subspan(at, std::min<std::uint64_t>(micro_batch, lengths.size() - at));
    add(cost, {batch.size(), length_of(batch)});
    at += batch.size();
  }
}

std::uint32_t longest_of(View batch) {
  return *std::ranges::max_element(batch);
}

BatchingCost cost_of(Batching batching, View lengths, std::uint64_t micro_batch,
                     const std::function<std::uint32_t(View)>& length_of) {
  BatchingCost cost{batching, 0, 0, 0, {}};
  add_batches(cost, lengths, micro_batch, length_of);
  return cost;
}

/// `sorted` from long to short, cut into parts whose sizes differ by at most one.
BatchingCost bucketed(View sorted, const BatchOptions& options) {
  BatchingCost cost{Batching::bucketed, 0, 0, 0, {}};
  const std::uint64_t buckets = std::min<std::uint64_t>(options.buckets, sorted.size());
  const std::uint64_t least = sorted.size() / buckets, larger = sorted.size() % buckets;
  for (std::uint64_t i = 0; i < buckets; ++i) {
    const View bucket = sorted.first(least + (i < larger ? 1 : 0));
    sorted = sorted.subspan(bucket.size());
    add_batches(cost, bucket, options.micro_batch, [&](View) { return bucket.front(); });
  }
  return cost;
}

Result<void> check(View lengths, const BatchOptions& options) {
  if (options.micro_batch < 1 || options.buckets < 1 || options.max_length == std::uint32_t{0})
    return fail(ErrorKind::usage, "nothing can be batched so", {},
                "micro batch, buckets and maximal length of at least 1");
  if (lengths.empty()) return fail(ErrorKind::bad_input, "there are no sequences", {}, "at least one length");
  const std::uint32_t longest = longest_of(lengths);
  if (longest == 0) return fail(ErrorKind::bad_input, "no sequence has a token", {}, "lengths above 0");
  if (longest > longest_sequence)
    return fail(ErrorKind::bad_input, "no sequence is that long", std::to_string(longest), "at most 10^9 tokens");
  return {};
}

}  // namespace

std::string_view name_of(Batching batching) {
  constexpr std::array<std::string_view, 4> names{"maximum", "random", "sorted", "bucketed"};
  return names[static_cast<std::size_t>(batching)];
}

Result<Batches> plan_batches(std::span<const std::uint32_t> lengths, const BatchOptions& options) {
  if (const auto checked = check(lengths, options); !checked) return tl::unexpected(checked.error());
  Lengths order(lengths.begin(), lengths.end());
  Lengths sorted = order;
  std::ranges::sort(sorted, std::greater());
  Batches result;
  result.lengths = statistics(sorted);
  if (options.max_length) {
    const std::uint32_t most = *options.max_length;
    result.truncated =
        static_cast<std::uint64_t>(std::ranges::count_if(sorted, [&](auto length) { return length > most; }));
    for (Lengths* all : {&order, &sorted})
      for (std::uint32_t& length : *all) length = std::min(length, most);
  }
  result.tokens = sum(sorted);
  result.cut = result.lengths.tokens - result.tokens;
  shuffle(order, options.seed);
  const std::uint32_t maximum = options.max_length.value_or(sorted.front());
  result.ways = {cost_of(Batching::maximum, sorted, options.micro_batch, [&](View) { return maximum; }),
                 cost_of(Batching::random, order, options.micro_batch, longest_of),
                 cost_of(Batching::sorted, sorted, options.micro_batch, longest_of), bucketed(sorted, options)};
  for (BatchingCost& way : result.ways) way.padding = way.tokens - result.tokens;
  return result;
}

}  // namespace ullage::planner
