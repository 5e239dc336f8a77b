// SPDX-License-Identifier: Apache-2.0
// What the store keeps of a run. Everything but the source is derived from it, and can be derived again.
#pragma once

#include "base/result.hpp"
#include "store/configuration.hpp"
#include "store/metrics.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ullage::store {

/// A run as its directory has it.
struct Source {
  std::string id;               ///< unique in a store
  std::string directory;        ///< absolute
  std::int64_t changed_ms = 0;  ///< when it ended; stands for the start where run.json does not say it
  std::string run_json;         ///< docs/result.md
  bool imported = false;        ///< known from somebody's history; its directory is none that was taken up here
};

/// A row of the list of runs. Texts that are not known are empty.
struct Summary {
  std::string id, name, directory, kind;  ///< kind: rehearsal, recording
  std::vector<std::string> command;
  std::string script;           ///< as the command names it
  std::int64_t started_ms = 0;  ///< since 1970, UTC
  std::string verdict;
  int exit_code = 0;  ///< of the command that made the run
  std::string gpu, torch, cuda, python;
  std::string commit;         ///< of the repository that holds the script
  std::optional<bool> dirty;  ///< the repository had changes that were not committed
  std::string configuration;  ///< equal for runs that were asked for the same: a hash
};

/// A phase of a step. Sizes are bytes.
struct Phase {
  std::uint32_t step = 0, micro_batch = 0;  ///< 0: none
  std::string name;
  std::uint64_t allocated = 0, reserved = 0;  ///< at the end
  std::uint64_t peak_allocated = 0, peak_reserved = 0;
};

/// A line of the ledger, in the order of the tree.
struct LedgerLine {
  std::string id, name;
  unsigned depth = 0;  ///< 0: the root
  std::uint64_t bytes = 0;
};

struct Record {
  Summary summary;
  std::vector<Setting> settings;
  std::vector<Phase> phases;
  std::vector<LedgerLine> lines;
  std::vector<MetricValue> metrics;  ///< those that are known, in the order of the table
  Source source;
};

/// The highest allocated memory in any phase of one name. Bytes.
struct PhasePeak {
  std::string name;
  std::uint64_t allocated = 0;
};

/// In the order in which the names come first.
[[nodiscard]] std::vector<PhasePeak> phase_peaks(const std::vector<Phase>& phases);

/// Reads run.json. Values of a wrong kind are taken as missing. Errors: `bad_input` when it is no JSON object.
[[nodiscard]] Result<Record> record_of(Source source);

}  // namespace ullage::store
