// SPDX-License-Identifier: Apache-2.0
// One run of the command under the stand-ins, and what it left behind.
#pragma once

#include "apps/ullage/rehearsal/options.hpp"
#include "ingest/run_directory/run_directory.hpp"
#include "launch/process.hpp"

#include <optional>
#include <string>

namespace ullage::cli {

struct AttemptSettings {
  std::string directory;      ///< absolute; exists
  bool unlimited = false;     ///< charge everything, refuse nothing
  bool record = true;         ///< false: without PyTorch's memory history
  bool live = true;           ///< copy the script's output to stderr
  std::string cudnn_version;  ///< as cudnnGetVersion gives it; empty: not known
};

struct Attempt {
  std::string directory;
  LaunchOutcome outcome;
  std::optional<ingest::RunDirectory> run;  ///< nothing when no process used the device, or the hook did not run
  std::string no_run;                       ///< why not
  std::optional<ledger::Account> account;   ///< every allocation with its owner; nothing without a history
  std::optional<ledger::RunLedger> ledger;
};

/// Runs the command. Errors: those of launch() and find_installation().
[[nodiscard]] Result<Attempt> attempt(const RehearsalOptions& options, const AttemptSettings& settings);

/// How a run went, read off its records and the command's status.
enum class Ending {
  done,  ///< by itself with status 0, or stopped after its steps
  out_of_memory,
  failed,  ///< by itself, with an error that is not the device's memory
  timed_out,
  interrupted,
};

[[nodiscard]] Ending ending_of(const Attempt& attempt);

/// True when PyTorch's recorder rather than the script is the likely culprit of a failure: a crash by signal, or an
/// error that Python raises about its own internals.
[[nodiscard]] bool recording_may_have_failed(const Attempt& attempt);

}  // namespace ullage::cli
