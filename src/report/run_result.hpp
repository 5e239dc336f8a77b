// SPDX-License-Identifier: Apache-2.0
// The result of a rehearsal as data: what `ullage rehearse` prints and writes into run.json (docs/result.md).
#pragma once

#include "ledger/chart.hpp"
#include "ledger/phases.hpp"
#include "ledger/storage_copies.hpp"
#include "ledger/transfers.hpp"
#include "report/findings_view.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ullage::report {

/// A number that is an empirical constant. Bytes.
struct Estimate {
  std::uint64_t bytes = 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::string known_by;
  std::string source;
};

struct DeviceInfo {
  std::string name;  ///< as CUDA shows it
  std::string short_name;
  std::string form_factor_note;  ///< set when the form factor was assumed
  std::string compute_capability;
  std::uint64_t capacity_bytes = 0;  ///< what CUDA shows, context included
  Estimate context;
};

struct StackInfo {
  std::string torch, cuda, python;  ///< empty when not known
};

/// The highest values of the run and where allocated was highest. Sizes are bytes.
struct PeakInfo {
  std::uint64_t allocated = 0, reserved = 0, requested = 0, used = 0;
  std::uint32_t step = 0;
  std::string phase;
  std::string where;  ///< line of code of the allocation at the peak; empty when not known
};

using ledger::CopyLine;
using ledger::SyncLine;

/// How one step got its data. Times in nanoseconds.
struct StepInput {
  std::uint32_t step = 0;
  std::uint64_t loads = 0;                                ///< batches that a DataLoader gave
  std::uint64_t median_load_ns = 0, total_load_ns = 0;    ///< the script waited for them; measured on this machine
  std::uint64_t pageable_copies = 0, pageable_bytes = 0;  ///< host to device
  std::uint64_t pinned_copies = 0, pinned_bytes = 0;
  std::uint64_t waited = 0;        ///< of these copies: the host waited for them (no non_blocking)
  std::uint64_t simulated_ns = 0;  ///< of these copies, on the virtual clock
};

/// A process of the command at its highest.
struct HostProcess {
  std::string name;
  std::uint64_t resident_bytes = 0;  ///< as the kernel counts, shared pages included
  std::uint64_t own_bytes = 0;       ///< without what is shared with others of the command
  bool script = false;               ///< the process that the run is about
};

/// Host memory of all processes of the command at their highest common moment. Bytes.
struct HostMemory {
  std::uint64_t seen_bytes = 0;                               ///< measured here
  std::uint64_t device_pages_bytes = 0, recording_bytes = 0;  ///< of it: the virtual GPU's, on no real machine
  std::vector<ledger::Line> lines;                            ///< what needed_bytes consists of
  std::uint64_t needed_bytes = 0;
  std::uint64_t capacity_bytes = 0;
  bool capacity_given = false;  ///< --host-memory; else this machine's
  bool fits = true;
  std::vector<HostProcess> processes;
  std::uint64_t looks = 0;
  double watch_share = 0;  ///< of one core, that looking took
};

/// Tensor.pin_memory: what was asked for, and the blocks that PyTorch took (powers of two).
struct Pinning {
  std::uint64_t times = 0, requested_bytes = 0, taken_bytes = 0;
};

/// Reads of values that nothing computed, over the whole run.
struct UnknownRead {
  std::string line;
  std::uint64_t count = 0, bytes = 0;
};

/// A named policy that stood for a value which nobody computed.
struct PolicyUse {
  std::string policy, line, text;
};

struct StubCall {
  std::string library, function;
  std::uint64_t calls = 0;
};

/// Scratch memory that a library asked for, by purpose. The sizes are estimates; the largest of each is kept.
struct Workspace {
  std::string purpose;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0, low_bytes = 0, high_bytes = 0;
};

/// An OutOfMemoryError of the run.
struct OutOfMemoryEvent {
  std::uint64_t requested_bytes = 0;
  std::uint32_t step = 0;
  std::string phase, module, line;
  std::string text;     ///< PyTorch's message; empty for a caught one
  bool caught = false;  ///< the script went on
};

/// A card of the catalogue, and whether the needed bytes fit it.
struct CardFit {
  std::string short_name;
  std::uint64_t capacity_bytes = 0;
  bool fits = false;
  bool tight = false;
  bool estimated = false;  ///< another architecture: other kernels, other workspaces
};

/// What the script did to files, or would have done. Absolute paths.
struct FileChanges {
  std::vector<std::string> created;      ///< are there now
  std::vector<std::string> overwritten;  ///< as before; the script's versions are in the run directory
  std::vector<std::string> deleted;      ///< still there
  bool protected_by_shadow = true;       ///< false: the script wrote what it wrote
};

/// The exception that ended the script.
struct ScriptError {
  std::string type, text;
};

/// What torch.compile did, and whether its caches were filled.
struct CompilerInfo {
  std::string cache;  ///< warm; cold; not_kept: filled by a run before, and yet compiled or timed again
  std::uint64_t graphs = 0;
  std::uint64_t compiled = 0;  ///< of the graphs: those that no cache held
  std::uint64_t timed = 0;     ///< kernels that were timed on the device
  std::optional<std::uint64_t> cold_peak_allocated_bytes, cold_peak_reserved_bytes;  ///< of the run that filled them
};

/// Where a run comes from.
struct RunOrigin {
  std::string name;                                ///< a person's name for runs of this kind
  std::string started;                             ///< "2026-11-30T15:15:47.123Z"
  std::map<std::string, std::string> environment;  ///< variables that steer memory
  std::vector<std::string> input_shapes;           ///< of the outermost forward, as JSON; each different one
  std::string commit;                              ///< of the repository of the script; empty when not known
  bool dirty = false;                              ///< with changes that are not committed
};

/// Times of a recording's steps, on the host's clock. Seconds.
struct StepTimes {
  std::uint64_t steps = 0;
  double median = 0, low = 0, high = 0;  ///< low and high: the 5th and the 95th of 100
};

/// Tokens that the script told, over the steps with times. FLOPs and rates are 0 where they are not known.
struct Throughput {
  std::uint64_t tokens = 0;
  std::optional<std::uint64_t> effective;  ///< those that are none of padding
  double seconds = 0;
  std::uint64_t flops_per_token = 0;  ///< forward and backward of the model, without recomputation
  std::string flops_known_by;         ///< the rule
  double peak_flops = 0;              ///< FLOP/s of the device at best
  std::string peak_known_by;

  [[nodiscard]] double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
  [[nodiscard]] double flops_per_second() const { return static_cast<double>(flops_per_token) * tokens_per_second(); }
  /// Model FLOPs utilisation, 0 to 1 where the peak is right.
  [[nodiscard]] double utilisation() const { return peak_flops > 0 ? flops_per_second() / peak_flops : 0; }
};

/// A step whose times are not the training's own.
struct LeftOutStep {
  std::uint32_t step = 0;
  std::string why;
};

/// What belongs to a recording alone. Bytes.
struct RecordedInfo {
  std::string name;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;
  std::uint64_t samples = 0;
  std::uint64_t resident_peak_bytes = 0, pinned_peak_bytes = 0, workers_peak_bytes = 0;
  std::uint64_t device_used_peak_bytes = 0, process_used_peak_bytes = 0;  ///< as the driver says; 0: not known
  std::uint64_t problems = 0;                                             ///< the recorder's own errors
  std::uint64_t lost_bytes = 0;                                           ///< of the log, behind its last whole record
  std::vector<LeftOutStep> left_out;
};

struct PlanView;

struct RunResult {
  std::string made_by = "rehearse";      ///< or record
  std::optional<ScriptError> exception;  ///< of a script that failed
  std::string verdict;                   ///< fits, tight, oom, failed, timeout
  std::optional<int> script_exit_code;
  DeviceInfo device;
  StackInfo stack;
  std::optional<PeakInfo> peak;
  std::optional<std::uint64_t> requested_bytes;        ///< of the failed request
  std::optional<std::uint64_t> needed_bytes;           ///< used peak without a limit
  std::optional<std::uint64_t> needed_at_least_bytes;  ///< where only a bound is known
  std::optional<std::uint64_t> needed_reserved_bytes;  ///< of needed: PyTorch's reserved memory
  std::uint64_t headroom_bytes = 0;
  double headroom_fraction = 0;
  std::uint64_t missing_bytes = 0;  ///< by how much the device is too small
  std::uint64_t reserve_bytes = 0;
  std::vector<ledger::Phase> phases;
  std::optional<ledger::Line> ledger;
  std::vector<ledger::Line> largest_owners;  ///< of activations and temporaries there, by layer and operator
  std::string ledger_of;                     ///< what the ledger is of: "end of step 2 backward"
  std::uint64_t below_peak = 0;              ///< how far that moment lies below the peak
  bool ledger_unlimited = false;             ///< peak, phases and ledger are of the second, unlimited run
  std::uint32_t steps = 0;
  std::string stop_reason;
  std::vector<CopyLine> copies;
  std::vector<SyncLine> syncs;
  std::vector<ledger::StorageCopy> storage_copies;  ///< of one step; the largest first
  std::uint32_t storage_copies_step = 0;            ///< that step; 0: of the whole run
  std::uint64_t view_calls = 0;                     ///< operators in it that only made a view
  std::vector<UnknownRead> unknown_reads;
  std::vector<PolicyUse> policies;
  std::vector<StubCall> stubs;
  std::vector<Workspace> workspaces;
  std::vector<OutOfMemoryEvent> ooms;
  std::vector<CardFit> cards;
  std::uint64_t pinned_bytes = 0, pinned_peak_bytes = 0, managed_bytes = 0;
  std::optional<HostMemory> host_memory;
  Pinning pinning;
  std::vector<StepInput> inputs;
  std::uint64_t launches = 0, gemms = 0;
  std::vector<std::string> not_seen;  ///< evaluation, generation ...
  FileChanges files;
  std::optional<CompilerInfo> compiler;
  std::optional<RecordedInfo> recorded;
  std::optional<StepTimes> times;
  std::optional<Throughput> throughput;
  FindingsView found;
  bool partial = false;
  std::vector<std::string> missing;  ///< evidence that should be there and is not
  std::vector<std::string> notes;
  std::shared_ptr<const PlanView> plan;  ///< of the same training, where it is one that is planned; else null
  RunOrigin origin;
  std::string run_directory;
  std::vector<std::string> command;
};

}  // namespace ullage::report
