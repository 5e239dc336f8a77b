// SPDX-License-Identifier: Apache-2.0
// Reads the CSV that `nvidia-smi --query-gpu=... --format=csv` and `--query-compute-apps=...` write, once or again and
// again (-l, -lms).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ingest/file/source.hpp"
#include "timeline/series.hpp"

namespace ullage::ingest {

/// Used memory of one GPU, or of one process on it, in bytes (the log has MiB).
struct SmiSeries {
  std::string gpu;                              ///< index, else UUID, else the name; empty when not logged
  std::string gpu_name;                         ///< empty when not logged
  std::string pid, process;                     ///< of a process; else empty
  std::optional<std::uint64_t> capacity_bytes;  ///< memory.total
  timeline::Series used;                        ///< times: the log's clock taken as UTC; samples without one count up
  std::uint64_t missing = 0;                    ///< samples without a value: [N/A], [Not Supported] ...
};

struct SmiLog {
  std::vector<SmiSeries> series;  ///< in the order in which they appear
  std::uint64_t lines = 0, bad_lines = 0;
  bool has_times = false;
  std::optional<Error> damage;  ///< the last line breaks off, or the compressed data do
};

/// Whether a line of the first bytes is a header of such a log; or a line without any header.
bool looks_like_smi_log(std::string_view head);
bool looks_like_smi_log_without_header(std::string_view head);

/// Errors: `bad_input` for a log without a field of used memory, or without one sample.
Result<SmiLog> read_smi_log(Source& source);

}  // namespace ullage::ingest
