// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/attempt.hpp"

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
  told.routing = options.routing;
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

void read_what_is_left(Attempt& attempt) {
  const std::filesystem::path directory = attempt.directory;
  if (!std::filesystem::exists(directory / "marks.jsonl")) {
    attempt.no_run = std::filesystem::exists(directory / "owner")
                         ? "the hook did not run in the process that used the GPU"
                         : "no process of the command took memory of the GPU";
    return;
  }
  auto run = ingest::read_run_directory(attempt.directory);
  if (!run) {
    attempt.no_run = run.error().what + " (" + run.error().where + ")";
    return;
  }
  attempt.run = std::move(*run);
  auto input = attempt.run->ledger_input();
  input.known_by = ledger::KnownBy::executed;
  attempt.ledger = ledger::build(input);
}

bool ended_by_oom(const Attempt& attempt) {
  if (!attempt.run || attempt.run->facts.ooms.empty()) return false;
  const auto& exception = attempt.run->facts.exception;
  return !exception || exception->oom;
}

}  // namespace

Result<Attempt> attempt(const RehearsalOptions& options, const AttemptSettings& settings) {
  const auto installation = find_installation();
  if (!installation) return tl::unexpected(installation.error());
  auto outcome = launch(launch_options(options, settings, *installation));
  if (!outcome) return tl::unexpected(outcome.error());
  Attempt result;
  result.directory = settings.directory;
  result.outcome = std::move(*outcome);
  read_what_is_left(result);
  return result;
}

Ending ending_of(const Attempt& attempt) {
  if (attempt.outcome.interrupted) return Ending::interrupted;
  if (attempt.outcome.timed_out) return Ending::timed_out;
  if (attempt.outcome.exit_status == 0) return Ending::done;
  if (ended_by_oom(attempt)) return Ending::out_of_memory;
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
