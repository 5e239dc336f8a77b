// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of export_memory_timeline and as a log of nvidia-smi: what is read adds up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>

#include "ingest/memory_timeline/memory_timeline.hpp"
#include "ingest/smi_log/smi_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ullage::ingest;
  const auto bytes = std::as_bytes(std::span(data, size));
  auto source = Source::of(bytes, "fuzz");
  if (const auto timeline = read_memory_timeline(source)) {
    const auto& parts = timeline->at_peak;
    if (std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}) != timeline->peak) std::abort();
  }
  auto again = Source::of(bytes, "fuzz");
  (void)looks_like_smi_log_without_header(again.head());
  if (const auto log = read_smi_log(again)) {
    for (const auto& series : log->series) {
      if (series.used.count() > 0 && series.used.floor() > series.used.value[series.used.highest()]) std::abort();
    }
  }
  return 0;
}
