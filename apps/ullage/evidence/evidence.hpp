// SPDX-License-Identifier: Apache-2.0
// Evidence: what a run directory or a file holds about memory, whatever its format, ready to be asked.
#pragma once

#include "allocator/settings.hpp"
#include "apps/ullage/flags.hpp"
#include "attribution/bare_labels.hpp"
#include "base/result.hpp"
#include "hardware/catalogue.hpp"
#include "ingest/kineto/kineto.hpp"
#include "ingest/memory_timeline/memory_timeline.hpp"
#include "ingest/oom_message/oom_log.hpp"
#include "ingest/run_directory/run_directory.hpp"
#include "ingest/smi_log/smi_log.hpp"
#include "ingest/snapshot/snapshot.hpp"
#include "ledger/run_ledger.hpp"
#include "timeline/trace_allocations.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

enum class Format { run_directory, snapshot, kineto, oom_log, memory_timeline, smi_log };
[[nodiscard]] const char* name_of(Format format);

/// What the source cannot show, and where it contradicts itself.
struct Quality {
  bool partial = false;     ///< damaged or cut: what came before the damage is here
  bool overflowed = false;  ///< a ring was full: the oldest events are lost
  std::vector<std::string> missing;
  std::vector<std::string> contradictions;
};

/// The sums of a source that has counters instead of allocations, where they are highest.
struct CounterPeak {
  ledger::Line ledger;
  std::string moment;              ///< "the peak"
  std::string summary;             ///< one line for people
  std::vector<std::string> notes;  ///< what the counters show beside
};

/// Not movable: the parts point into each other.
struct Evidence {
  Evidence() = default;
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  std::string path;
  Format format = Format::run_directory;
  std::vector<int> devices;  ///< that have allocations here; `timeline` is of one of them
  std::string producer;      ///< who wrote it, for people: "rehearsal, torch 2.11.0"
  Quality quality;

  std::unique_ptr<ingest::RunDirectory> run;
  std::optional<ingest::Snapshot> snapshot;
  std::optional<ingest::KinetoTrace> trace;
  std::optional<timeline::TraceTimeline> trace_timeline;  ///< of its memory events
  std::vector<attribution::PhaseSpan> trace_phases;
  std::optional<ingest::OomLog> oom_log;
  std::optional<ingest::MemoryTimeline> memory_timeline;
  std::optional<ingest::SmiLog> smi_log;

  timeline::Timeline* timeline = nullptr;  ///< null when the source has no allocations in order
  timeline::InitialState initial;
  ledger::RunInput input;                       ///< of a run directory
  std::optional<ledger::RunLedger> run_ledger;  ///< of a run directory: its phases and peaks
  std::optional<ledger::Account> account;       ///< every allocation with its owner
  timeline::Interval whole;                     ///< peaks over all events, when there is a timeline
  std::optional<CounterPeak> counters;          ///< of a source without allocations
  std::optional<std::uint64_t> capacity_bytes;
  const Gpu* gpu = nullptr;  ///< that a rehearsal imitated

  [[nodiscard]] ledger::KnownBy known_by() const;
};

/// Opens a path that resolve_run_or_file gave. The format is told by the content. `device` is whose allocations; by
/// default those of the device that has most to show. Errors: `io`; `bad_input` for a format that is not known, with
/// the ones that are.
[[nodiscard]] Result<std::unique_ptr<Evidence>> open_evidence(const std::string& path,
                                                              std::optional<int> device = std::nullopt);

/// What an argument RUN|FILE names, opened. Errors: those of resolve_run_or_file and of open_evidence.
[[nodiscard]] Result<std::unique_ptr<Evidence>> open_run_or_file(const std::string& argument);

/// The same; of a rehearsal that ran out of memory its second run, in which only the charging is unlimited: the one
/// whose steps are whole, as those of a plan and of a run that fits.
[[nodiscard]] Result<std::unique_ptr<Evidence>> open_whole_run_or_file(const std::string& argument);

/// The same for a command, `ullage VERB RUN|FILE`, that takes just one. Errors: also `usage`, when it is missing.
[[nodiscard]] Result<std::unique_ptr<Evidence>> open_one(const Arguments& arguments, const std::string& command);

/// The optimizer's ranges and the script's own, of a snapshot, on the device of the timeline; empty without a snapshot.
[[nodiscard]] std::vector<attribution::Annotation> annotations_of(const Evidence& evidence);

/// The operators of a trace, or of a run's record; null when there are none.
[[nodiscard]] const timeline::Trace* trace_of(const Evidence& evidence);

/// The version with which a run was made; nothing where it is not known.
[[nodiscard]] std::optional<allocator::TorchVersion> torch_of(const ingest::RunDirectory* run);

/// For those who open a format: the source was damaged or cut, if there is such an error.
void note_damage(Evidence& evidence, const std::optional<Error>& damage);

/// ": activations 29.89 GiB, optimizer state 9.79 GiB": the four largest lines that have bytes.
[[nodiscard]] std::string largest_parts(std::vector<ledger::Line> lines);

}  // namespace ullage::cli
