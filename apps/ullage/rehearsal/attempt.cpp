// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/attempt.hpp"

#include "apps/ullage/device.hpp"
#include "apps/ullage/rehearsal/compiler.hpp"
#include "apps/ullage/rehearsal/files.hpp"
#include "apps/ullage/rehearsal/owner.hpp"
#include "ingest/file/compress.hpp"
#include "launch/installation.hpp"

#include <csignal>
#include <filesystem>

namespace ullage::cli {
namespace {

LaunchOptions launch_options(const RehearsalOptions& options, const AttemptSettings& settings,
                             const Installation& installation) {
  RehearsalSettings told;
  told.run_directory = settings.directory;
  told.profile = profile_text(options, settings.unlimited);
  told.steps = options.steps;
  told.stacks = settings.record ? options.stacks : "none";
  told.operators = settings.record && options.stacks != "none" ? options.operators : "off";
  told.routing = options.routing;
  told.unlimited = settings.unlimited;
  told.allow_writes = options.allow_writes;
  told.compiler_cache = compiler_cache(options, settings.directory);
  if (options.host_bytes > 0) told.host_memory = options.host_bytes;
  told.cudnn_version = settings.cudnn_version;
  LaunchOptions launch;
  launch.argv = options.command;
  launch.environment = rehearsal_environment(installation, told);
  launch.time_limit = options.time_limit;
  launch.stdout_log = settings.directory + "/stdout.log";
  launch.stderr_log = settings.directory + "/stderr.log";
  launch.live_fd = settings.live ? 2 : -1;
  return launch;
}

void read_run(const RehearsalOptions& options, Attempt& attempt) {
  auto run = ingest::read_run_directory(attempt.directory);
  if (!run) {
    attempt.no_run = describe(run.error());
    return;
  }
  attempt.run = std::move(*run);
  std::error_code error;
  if (const std::string raw = attempt.directory + "/operators.json"; std::filesystem::exists(raw, error)) {
    if (const auto packed = ingest::compress_file(raw, raw + ".zst"); !packed)
      attempt.run->notes.push_back(packed.error().what + ": " + packed.error().where);
  }
  auto input = attempt.run->ledger_input();
  input.known_by = ledger::KnownBy::executed;
  input.context_bytes = context_bytes(*options.gpu);  // also where the log is cut
  attempt.account = ledger::make_account(input);
  attempt.ledger = ledger::build(input, attempt.account ? &*attempt.account : nullptr);
}

void read_what_is_left(const RehearsalOptions& options, Attempt& attempt) {
  if (settle_owner(attempt.directory)) {
    read_run(options, attempt);
    return;
  }
  std::error_code error;
  const bool used = std::filesystem::exists(std::filesystem::path(attempt.directory) / "owner", error);
  attempt.no_run = used ? "the hook did not run in the process that used the GPU (python -I, -E or -S keep it out)"
                        : "no process of the command took memory of the GPU";
}

/// The process died of it: by an exception, or by a signal before it could say so.
bool ended_by_oom(const Attempt& attempt) {
  if (!attempt.run || attempt.run->facts.ooms.empty()) return false;
  const auto& facts = attempt.run->facts;
  if (facts.exception) return facts.exception->oom;
  return !facts.end && attempt.outcome.exit_status != 0;
}

}  // namespace

Result<Attempt> attempt(const RehearsalOptions& options, const AttemptSettings& settings) {
  const auto installation = find_installation();
  if (!installation) return tl::unexpected(installation.error());
  if (const auto ready = prepare_files(options, settings.directory); !ready) return tl::unexpected(ready.error());
  auto outcome = launch(launch_options(options, settings, *installation));
  if (!outcome) return tl::unexpected(outcome.error());
  tidy_files(settings.directory);
  Attempt result;
  result.directory = settings.directory;
  result.outcome = std::move(*outcome);
  read_what_is_left(options, result);
  return result;
}

Ending ending_of(const Attempt& attempt) {
  if (attempt.outcome.interrupted) return Ending::interrupted;
  if (attempt.run && attempt.run->facts.stop)
    return Ending::done;  // all was measured, whatever the script made of the stop
  if (attempt.outcome.timed_out) return Ending::timed_out;
  if (ended_by_oom(attempt)) return Ending::out_of_memory;
  if (attempt.outcome.exit_status == 0) return Ending::done;
  const bool finished =
      attempt.run && attempt.run->facts.end && attempt.run->facts.end->status == "ok" && !attempt.run->facts.exception;
  // An abort while Python shuts down, after the work is done, is no failure of the run.
  return finished && attempt.outcome.signal == SIGABRT ? Ending::done : Ending::failed;
}

bool recording_may_have_failed(const Attempt& attempt) {
  if (ending_of(attempt) != Ending::failed) return false;
  const int signal = attempt.outcome.signal;
  if (signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGKILL) return true;
  return attempt.run && attempt.run->facts.exception && attempt.run->facts.exception->type == "SystemError";
}

}  // namespace ullage::cli
