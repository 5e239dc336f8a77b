// SPDX-License-Identifier: Apache-2.0
// Reads a run directory: marks.jsonl, snapshot.pickle, operators.json and device.ulog, joined. Format:
// docs/run_directory.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ingest/kineto/kineto.hpp"
#include "ingest/run_directory/device_log.hpp"
#include "ingest/run_directory/join.hpp"
#include "ingest/run_directory/run_facts.hpp"
#include "ingest/snapshot/snapshot.hpp"
#include "ledger/run_ledger.hpp"

namespace ullage::ingest {

struct RunDirectory {
  std::string path;
  RunFacts facts;
  std::optional<Snapshot> snapshot;      ///< of the device whose history was recorded
  std::optional<KinetoTrace> operators;  ///< which operators of which modules ran in the first steps
  std::optional<DeviceLog> device;       ///< rehearsals only
  Join join;
  std::vector<std::uint64_t> device_bytes;  ///< at each mark, from device.ulog; empty when it does not know all marks
  std::optional<RunFacts> whole;            ///< of a recording whose `facts` were cut to the steps with a history
  std::uint64_t device_peak_bytes = 0;      ///< of a recording; 0 when not known
  std::vector<std::string> notes;           ///< what is missing, damaged or does not agree
  bool partial = false;                     ///< something that should be there is not

  /// What the record says of the whole run.
  [[nodiscard]] const RunFacts& whole_facts() const { return whole ? *whole : facts; }
  /// What ledger::build needs; valid as long as this object lives and is not moved.
  [[nodiscard]] ledger::RunInput ledger_input() const;
};

/// The device that a run imitated.
struct ImitatedDevice {
  std::string short_name;                       ///< empty when not known
  std::optional<std::uint64_t> capacity_bytes;  ///< what CUDA showed
};
/// As the run's run.json has it; empty when there is none.
ImitatedDevice imitated_device(const std::string& run_directory);

/// The file with the operators, compressed or not yet; empty when there is none.
std::string operators_path(const std::string& run_directory);

/// Errors: `io` when the directory has no marks.jsonl; `bad_input` when that file has no record at all. Everything else
/// that is missing or damaged is noted.
Result<RunDirectory> read_run_directory(const std::string& path);

}  // namespace ullage::ingest
