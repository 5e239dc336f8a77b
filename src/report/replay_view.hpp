// SPDX-License-Identifier: Apache-2.0
// The same requests under other allocator settings: what `ullage replay` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// A request that found no memory. Bytes.
struct ReplayFailureView {
  std::uint64_t requested = 0;  ///< what the device was asked for
  std::uint64_t allocated = 0, reserved = 0, largest_free = 0;
  std::uint64_t event = 0;  ///< of the recording
  std::string where;        ///< phase, or event
};

/// One row. Bytes.
struct ReplayRow {
  std::string setting;  ///< PyTorch's spelling; empty: as recorded
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
  std::uint64_t unused_at_peak = 0;  ///< reserved, not allocated, when allocated was highest
  std::uint64_t retries = 0;
  std::optional<ReplayFailureView> failure;
  std::uint64_t recorded_failures = 0, recorded_failures_pass = 0;
};

struct ReplayView {
  std::string source, producer;
  std::string recorded_settings;
  std::optional<std::uint64_t> capacity_bytes;   ///< of the device, as CUDA shows it
  std::optional<std::uint64_t> available_bytes;  ///< of it for PyTorch's segments
  std::uint64_t recorded_peak_reserved = 0;
  bool reproduced = false;  ///< the model gives that peak, with the recorded settings and addresses
  bool start_is_exact = true;
  std::vector<ReplayRow> rows;
  std::vector<std::string> notes;
};

[[nodiscard]] std::string replay_text(const ReplayView& view);
/// For programs: docs/schemas/replay.schema.json.
[[nodiscard]] std::string replay_json(const ReplayView& view);

}  // namespace ullage::report
