// SPDX-License-Identifier: Apache-2.0
// Reads torch.cuda.memory._snapshot() pickles of torch 1.13 to 2.15 into a Timeline. Every key is optional, unknown
// actions stay as opaque events. Source of the layout: torch/cuda/memory.py and torch/csrc/cuda/memory_snapshot.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "timeline/timeline.hpp"

namespace ullage::ingest {

struct SnapshotOptions {
  std::optional<int> device;  ///< which device; by default the first with events, else the first with segments
  bool stacks = true;         ///< false leaves all stacks empty, which is faster
};

/// A record_function range (`external_annotations`).
struct Annotation {
  std::string name;
  bool start = false;  ///< the range begins; false: it ends
  int device = 0;
  std::int64_t time_us = 0;
};

struct Snapshot {
  timeline::Timeline timeline;
  std::vector<int> devices;  ///< all devices with segments or events, in order
  std::vector<Annotation> annotations;
  std::vector<std::string> unknown_actions;  ///< their names, at most 16
  std::uint64_t bad_values = 0;              ///< fields of a wrong kind or out of range, left out
  std::optional<Error> damage;               ///< the file was cut short; what was complete is here
  [[nodiscard]] bool partial() const { return damage.has_value(); }
};

/// Reads a snapshot from memory. Errors: those of pickle::read; a pickle that is no snapshot; a device it does not
/// have.
Result<Snapshot> read_snapshot(std::span<const std::byte> input, const SnapshotOptions& options = {});

/// The same from a file; errors carry the path in `where`.
Result<Snapshot> read_snapshot_file(const std::string& path, const SnapshotOptions& options = {});

}  // namespace ullage::ingest
