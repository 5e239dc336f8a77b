// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of lengths: an error that says something, or batches that hold every token.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "ingest/lengths/lengths.hpp"
#include "planner/batches.hpp"

namespace {

using namespace ullage;

void check_batches(std::span<const std::uint32_t> lengths, const planner::BatchOptions& options) {
  const auto batches = planner::plan_batches(lengths, options);
  if (!batches) return;
  for (const planner::BatchingCost& way : batches->ways)
    if (way.tokens != batches->tokens + way.padding || way.tokens > batches->ways.front().tokens) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto source = ingest::Source::of(std::as_bytes(std::span(data, size)), "fuzz");
  const auto lengths = ingest::read_lengths(source);
  if (!lengths && lengths.error().what.empty()) std::abort();
  if (!lengths) return 0;
  if (lengths->tokens.empty() || lengths->empty > lengths->tokens.size()) std::abort();
  check_batches(lengths->tokens, {});
  check_batches(lengths->tokens, {3, 100, 2, size});
  return 0;
}
