// SPDX-License-Identifier: Apache-2.0
// `ullage rehearse`: runs a command on a virtual GPU and says what it needs.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/hardware/own_gpus.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/rehearsal/assemble.hpp"
#include "apps/ullage/rehearsal/attempt.hpp"
#include "apps/ullage/rehearsal/compiler.hpp"
#include "apps/ullage/rehearsal/files.hpp"
#include "apps/ullage/rehearsal/options.hpp"
#include "apps/ullage/rehearsal/origin.hpp"
#include "apps/ullage/run_json.hpp"
#include "launch/interpreter.hpp"
#include "report/json/run_result.hpp"
#include "report/text/run_result.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

/// Asks the command's Python about its torch; nothing is known of a command that is no Python program.
Result<std::string> checked_cudnn(const RehearsalOptions& options) {
  if (!find_program(options.command.front()))
    return fail(ErrorKind::usage, "command not found", options.command.front(), "a program in PATH");
  const auto interpreter = interpreter_of(options.command);
  if (!interpreter) return std::string();
  const auto probe = probe_torch(*interpreter);
  if (!probe) return tl::unexpected(probe.error());
  const Gpu& gpu = *options.gpu;
  const auto checked = check_torch(*probe, gpu.cc_major, gpu.cc_minor, std::string(gpu.short_name));
  if (!checked) return tl::unexpected(checked.error());
  return cudnn_number(probe->cudnn);
}

bool needs_second_run(const Attempt& first) {
  const Ending ending = ending_of(first);
  if (ending == Ending::out_of_memory) return true;
  if (ending != Ending::done || !first.run || first.run->facts.marks.empty()) return false;
  // A retry that ended in an OutOfMemoryError which the script caught is its way of adapting to the memory.
  return first.run->facts.marks.back().counters.retries > first.run->facts.ooms.size();
}

Result<Attempt> second_run(const RehearsalOptions& options, AttemptSettings settings) {
  take_files_back(settings.directory);
  settings.directory = unlimited_run(settings.directory).string();
  settings.unlimited = true;
  settings.live = false;
  std::error_code error;
  fs::create_directory(settings.directory, error);
  if (error) return fail(ErrorKind::io, "cannot make a folder: " + error.message(), settings.directory);
  print_note("the memory was not enough; a second run, in which only the charging is unlimited, measures the need");
  return attempt(options, settings);
}

/// The first run; once more without PyTorch's recorder where that may be what failed.
Result<Attempt> first_run(const RehearsalOptions& options, AttemptSettings& settings, std::string* note) {
  auto first = attempt(options, settings);
  if (!first || options.stacks == "none" || !recording_may_have_failed(*first)) return first;
  print_note("the script failed in a way that recording its memory may have caused; running it again without");
  clear_for_rerun(settings.directory);
  settings.record = false;
  *note = "recorded without PyTorch's memory history: with it the script failed";
  return attempt(options, settings);
}

/// The same run with the compiler's caches filled, when it found them cold; else the run itself.
Result<Attempt> with_warm_caches(const RehearsalOptions& options, AttemptSettings settings, Attempt first,
                                 std::optional<ColdRun>* cold) {
  if (options.compile_cache == "cold" || !compiled_anew(first)) return first;
  *cold = cold_run_of(first);
  print_note(fmt::format(
      "torch.compile found no code in its cache for {} of {} graphs and timed {} kernels; running again with "
      "the caches filled ('--compile-cache cold' reports the first run)",
      (*cold)->compiled, (*cold)->graphs, (*cold)->timed));
  clear_for_rerun(settings.directory);
  settings.live = false;
  return attempt(options, settings);
}

/// What cannot be judged is an error, not a "fits".
Result<void> check_judgeable(const Attempt& attempt) {
  std::error_code error;
  if (fs::exists(fs::path(attempt.directory) / "no_address_space", error))
    return fail(ErrorKind::unsupported, "there is no address space for the virtual device",
                "the limit on virtual memory (ulimit -v)", "at least 128 GiB of it; none of it is used",
                "ulimit -v unlimited");
  if (!attempt.run && ending_of(attempt) == Ending::done)
    return fail(ErrorKind::unsupported, attempt.no_run, attempt.directory, "a script that uses PyTorch on the GPU");
  if (attempt.run && !attempt.run->facts.allocator.empty() && attempt.run->facts.allocator != "native")
    return fail(ErrorKind::unsupported, "the script runs without PyTorch's caching allocator",
                attempt.run->facts.allocator == "uncached" ? "PYTORCH_NO_CUDA_MEMORY_CACHING"
                                                           : "backend:" + attempt.run->facts.allocator,
                "PyTorch's own allocator, whose counters tell what was used", "rehearse it without this setting");
  return {};
}

ExitCode exit_code(const report::RunResult& result) {
  if (result.verdict == "oom") return ExitCode::no;
  if (result.verdict == "failed") return ExitCode::script_failed;
  if (result.verdict == "timeout") return ExitCode::timeout;
  // Only who named a machine has asked; this one may not be the one that the run is for.
  if (result.host_memory && result.host_memory->capacity_given && !result.host_memory->fits) return ExitCode::no;
  return ExitCode::yes;
}

Result<ExitCode> finish(const RehearsalOptions& options, const report::RunResult& result) {
  const std::string json = report::result_json(result);
  if (const auto written = write_run_json(result.run_directory, json); !written) return tl::unexpected(written.error());
  index_run(result.run_directory);
  return print_result(options.json ? json : report::result_text(result)).map([&] { return exit_code(result); });
}

Result<ExitCode> rehearse(const RehearsalOptions& options, const std::vector<Ignored>& ignored) {
  const auto cudnn = checked_cudnn(options);
  if (!cudnn) return tl::unexpected(cudnn.error());
  const report::RunOrigin origin = origin_of(options);
  const auto directory = make_run_directory(options);
  if (!directory) return tl::unexpected(directory.error());
  AttemptSettings settings;
  settings.directory = *directory;
  settings.cudnn_version = *cudnn;
  std::string note;
  std::optional<ColdRun> cold;
  const auto first = first_run(options, settings, &note).and_then([&](Attempt made) {
    return with_warm_caches(options, settings, std::move(made), &cold);
  });
  if (!first) return tl::unexpected(first.error());
  if (ending_of(*first) == Ending::interrupted) return ExitCode::interrupted;
  if (const auto judgeable = check_judgeable(*first); !judgeable) return tl::unexpected(judgeable.error());
  std::optional<Attempt> second;
  if (needs_second_run(*first)) {
    auto made = second_run(options, settings);
    if (!made) return tl::unexpected(made.error());
    if (ending_of(*made) == Ending::interrupted) return ExitCode::interrupted;
    second = std::move(*made);
  }
  report::RunResult result = assemble(options, origin, *first, second ? &*second : nullptr, ignored);
  if (!note.empty()) result.notes.push_back(note);
  take_compiler(result, options, second && result.ledger_unlimited ? *second : *first, cold);
  return finish(options, result);
}

Result<ExitCode> run_rehearse(const Arguments& arguments) {
  const auto ignored = ignored_findings(arguments);
  if (!ignored) return tl::unexpected(ignored.error());
  return rehearsal_options(arguments).and_then([&](const auto& options) { return rehearse(options, *ignored); });
}

constexpr Flag rehearse_flags[] = {
    {"gpu", "NAME", "the GPU to imitate ('ullage gpus' lists them); or ULLAGE_GPU", FlagKind::gpu},
    gpu_file_flag,
    {"memory", "SIZE", "total memory that CUDA shows, context included, instead of the card's", FlagKind::size},
    {"headroom", "SHARE", "with less of the capacity left at the peak the run is tight", FlagKind::share, "15%"},
    {"reserve", "SIZE", "taken off the capacity first, for what one process cannot show", FlagKind::size},
    {"host-memory", "SIZE", "host memory of the machine that the run is for, instead of this one's", FlagKind::size},
    {"steps", "K|auto|all", "optimizer steps to make", FlagKind::text, "auto"},
    {"stacks", "python|all|none", "call stacks to record with each allocation", FlagKind::text, "python"},
    {"operators", "names|shapes|off", "what to record of operators: with input shapes, a rehearsal takes longer",
     FlagKind::text, "names"},
    {"routing", "balanced|skewed", "which experts tokens go to when their scores are unknown", FlagKind::text,
     "balanced"},
    {"compile-cache", "warm|cold", "memory with torch.compile's caches filled, or with empty ones", FlagKind::text,
     "warm"},
    {"address-rule", "native|wsl", "which driver's addresses to imitate; they decide ties between free blocks",
     FlagKind::text, "native"},
    {"time-limit", "TIME", "wall time of one run", FlagKind::duration, "10m"},
    {"allow-writes", "", "let the script change files that were there before", FlagKind::toggle},
    ignore_flag,
    {"name", "NAME", "what to call runs of this kind in the history; else the script's name", FlagKind::text},
    {"out", "DIR", "the run directory: new or empty", FlagKind::text},
    store_flag,
    {"no-store", "", "do not list this run in the history (ULLAGE_STORE=none does the same)", FlagKind::toggle},
    json_flag,
};

}  // namespace

const Command rehearse_command{
    "rehearse",
    "run an unmodified PyTorch script on a virtual GPU and say what it needs",
    "--gpu NAME [FLAGS] -- COMMAND...",
    "COMMAND runs as it is (python train.py, torchrun --nproc-per-node 1 train.py, accelerate launch train.py, a "
    "console\n"
    "script) on stand-in CUDA libraries: PyTorch's own code allocates, kernels do nothing. It is stopped after its "
    "steps;\n"
    "its output goes to stderr, the report to stdout. When the memory is not enough, a second run measures the need.\n"
    "Ends with 0 (fits or tight), 1 (does not fit), 5 (the script failed by itself), 6 (time limit), 7 (cannot be\n"
    "rehearsed here).",
    {rehearse_flags, 0, true},
    run_rehearse};

}  // namespace ullage::cli
