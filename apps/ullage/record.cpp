// SPDX-License-Identifier: Apache-2.0
// `ullage record`: runs a command on the GPU that is here and records it; for everybody else it is that command.
#include "apps/ullage/command.hpp"
#include "apps/ullage/paths.hpp"
#include "launch/execute.hpp"
#include "launch/installation.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

/// "3,10-12": numbers with commas and dashes between them.
bool readable(const std::string& steps) {
  bool digit = false;
  for (const char c : steps) {
    const bool separator = c == ',' || c == '-';
    if ((c < '0' || c > '9') && !(separator && digit)) return false;
    digit = !separator;
  }
  return digit;
}

/// Steps as the recorder reads them; empty where none are given.
Result<std::string> steps_of(const Arguments& arguments, const std::string& flag) {
  const std::string value = arguments.text(flag).value_or("");
  if (!arguments.given(flag) || readable(value)) return value;
  return fail(ErrorKind::usage, "cannot read the steps '" + value + "'", "--" + flag, "steps like 3 or 3,10-12");
}

Result<std::string> directory_of(const Arguments& arguments) {
  const auto given = arguments.text("out");
  if (!given) return std::string();
  std::error_code error;
  const bool free = !fs::exists(*given, error) || (fs::is_directory(*given, error) && fs::is_empty(*given, error));
  if (!free) return fail(ErrorKind::usage, "the run directory is not empty", *given, "a new or empty folder for --out");
  return full_path(*given).string();
}

Result<RecordingSettings> settings_of(const Arguments& arguments) {
  RecordingSettings settings;
  settings.name = arguments.text("name").value_or("");
  const auto directory = directory_of(arguments);
  if (!directory) return tl::unexpected(directory.error());
  settings.directory = *directory;
  if (const auto interval = arguments.duration("interval"))
    settings.interval = fmt::format("{}", static_cast<double>(interval->count()) / 1000);
  const auto history = steps_of(arguments, "history");
  if (!history) return tl::unexpected(history.error());
  settings.history = *history;
  const auto profile = steps_of(arguments, "profile");
  if (!profile) return tl::unexpected(profile.error());
  settings.profile = *profile;
  return settings;
}

Result<ExitCode> run_record(const Arguments& arguments) {
  if (arguments.command.empty())
    return fail(ErrorKind::usage, "no command to record", {}, "ullage record -- python train.py");
  const auto settings = settings_of(arguments);
  if (!settings) return tl::unexpected(settings.error());
  const auto hook = find_hook();
  if (!hook) return tl::unexpected(hook.error());
  return tl::unexpected(execute(arguments.command, recording_environment(*hook, *settings)));
}

constexpr Flag record_flags[] = {
    {"name", "NAME", "what the recording is called, instead of like the script", FlagKind::text},
    {"out", "DIR", "the run directory: new or empty", FlagKind::text},
    {"interval", "TIME", "between two looks at host and device memory (0s: never); 0.5 s without it",
     FlagKind::duration},
    {"history", "STEPS", "steps whose memory history is kept: 3 or 3,10-12", FlagKind::text},
    {"profile", "STEPS", "steps that torch.profiler traces", FlagKind::text},
};

}  // namespace

const Command record_command{
    "record",
    "run a training script on the GPU that is here and record its memory and time",
    "[FLAGS] -- COMMAND...",
    "COMMAND runs unchanged, in this process: its output, its signals and its status are its own. In each of its "
    "Python\n"
    "processes that trains, the phases of the steps are recorded into a run directory, whose path stands on stderr at "
    "the\n"
    "end. Nothing that fails in the recorder reaches the script. 'ullage ledger RUN' and 'ullage explain RUN' show it.",
    {record_flags, 0, true},
    run_record};

}  // namespace ullage::cli
