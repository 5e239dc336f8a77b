// SPDX-License-Identifier: Apache-2.0
// The sources of a reconciliation: a plan, a rehearsal, a recording, a file, each with its ledger and what it says of
// the configuration.
#pragma once

#include "base/result.hpp"
#include "findings/causes.hpp"
#include "ledger/chart.hpp"
#include "report/reconcile_view.hpp"
#include "store/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ullage::cli {

/// The highest totals of a source. Bytes.
struct Totals {
  std::uint64_t allocated = 0, reserved = 0;
  std::uint64_t used = 0;  ///< of the whole device; 0 where it is not known
};

struct ReconcileSource {
  report::ReconcileColumn column;
  std::optional<ledger::Line> ledger;  ///< of one moment; nothing where the source has totals and names alone
  Totals highest;
  ledger::Line totals;  ///< of the highest totals, with the states that last
  findings::ColumnLimits limits;
  std::map<std::string, std::string> facts;  ///< of the configuration: GPU, torch, parameters ...
  std::optional<store::Record> record;       ///< of a run with a result
  std::vector<std::string> notes;
  bool partial = false;  ///< damaged or cut evidence
};

/// Keys of facts, in the order in which they are shown.
namespace fact {
inline constexpr const char *model = "model", *parameters = "parameters", *gpu = "GPU", *torch = "torch",
                            *micro_batch = "micro batch", *sequence = "sequence", *precision = "precision",
                            *optimizer = "optimizer", *attention = "attention", *checkpoint = "checkpoint",
                            *accumulate = "accumulate", *mode = "mode", *cache = "cached tokens", *world = "ranks",
                            *zero = "ZeRO stage", *padding = "padding";
inline constexpr const char* all[] = {model,     parameters, gpu,       torch,      micro_batch, sequence,
                                      precision, optimizer,  attention, checkpoint, accumulate,  mode,
                                      cache,     world,      zero,      padding};
}  // namespace fact

/// Which moment the ledgers are of.
enum class ReconcileMoment : std::uint8_t {
  peak,     ///< most allocated
  fullest,  ///< most reserved, and of these moments the one with most allocated: what a plan's ledger is of
};

/// What `ullage plan --json` printed. `path` may be `-`. Errors: `io`; `bad_input` for another document, one with
/// several points, or a ledger that does not add up.
[[nodiscard]] Result<ReconcileSource> plan_source(const std::string& path);

/// The plan that is kept with a run; nothing where it has none. Errors: those of plan_source.
[[nodiscard]] Result<std::optional<ReconcileSource>> kept_plan(const store::Record& run);
/// The same of an argument that may be no run: nothing.
[[nodiscard]] Result<std::optional<ReconcileSource>> kept_plan(const std::string& argument);

/// A run, a snapshot, or a file with the result of a rehearsal. A run whose directory is gone has its result's ledger.
/// Errors: those of open_run_or_file; `bad_input` for evidence without a ledger.
[[nodiscard]] Result<ReconcileSource> run_source(const std::string& argument, ReconcileMoment moment);

/// The ledger of highest totals: parameters and optimizer state of `chart`, everything
/// else, what is cached, and what is outside PyTorch where it is known.
[[nodiscard]] ledger::Line totals_line(const Totals& totals, const ledger::Line& chart);

/// "backward" of "the peak of allocated memory, in step 2 backward", "backward of the first step" of the first; empty
/// where it is not said.
[[nodiscard]] std::string phase_of_moment(const std::string& moment);

/// "2.11" of "2.11.0+cu128".
[[nodiscard]] std::string short_version(const std::string& torch);

}  // namespace ullage::cli
