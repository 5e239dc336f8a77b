// SPDX-License-Identifier: Apache-2.0
// `ullage convert`: the same evidence in another format.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/export.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/result_file.hpp"
#include "base/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace ullage::cli {
namespace {

struct Target {
  std::string_view name;
  void (*write)(const report::ExportView& view, report::Sink& sink);
  bool binary;
};

constexpr Target targets[] = {{"memory-viz", report::write_memory_viz, true},
                              {"perfetto", report::write_perfetto, false},
                              {"csv", report::write_csv, false}};

Result<Target> target_of(const Arguments& arguments) {
  const std::string word = arguments.text("to").value_or("");
  const auto found = std::ranges::find(targets, word, &Target::name);
  if (found != std::end(targets)) return *found;
  constexpr std::array<std::string_view, 3> names{targets[0].name, targets[1].name, targets[2].name};
  return fail(ErrorKind::usage, word.empty() ? "the format to convert to is missing" : "unknown format '" + word + "'",
              "--to", "memory-viz, perfetto or csv", word.empty() ? "" : suggestion(word, names));
}

tl::unexpected<Error> nothing_to_convert(const Evidence& evidence, std::string what) {
  std::string hint =
      "memory snapshots, run directories and traces of torch.profiler with profile_memory=True have "
      "allocations; files of export_memory_timeline and logs of nvidia-smi have counters, for perfetto "
      "and csv";
  if (evidence.run && evidence.run->snapshot) hint = "its snapshot.pickle alone can be converted";
  return fail(ErrorKind::bad_input, std::move(what), evidence.path, "a file with allocations or counters",
              std::move(hint));
}

Result<void> check_content(const Export& made, const Target& target) {
  const Evidence& evidence = *made.evidence.front();
  if (!made.view.devices.empty()) return {};
  const std::string kind = name_of(evidence.format);
  if (target.name == "perfetto" && made.view.trace != nullptr) return {};
  if (made.view.counters.empty()) return nothing_to_convert(evidence, "this " + kind + " has nothing to convert");
  if (target.binary)
    return nothing_to_convert(evidence, "this " + kind + " has counters, of which memory-viz shows nothing");
  return {};
}

Result<void> check_terminal(const Target& target, const std::string& out) {
  if (!target.binary || out != "-" || isatty(STDOUT_FILENO) == 0) return {};
  return fail(ErrorKind::usage, "a pickle is not for a terminal", "stdout", "--out FILE, or a pipe");
}

void say(const Export& made) {
  for (const std::string& note : made.notes) print_note(note);
  for (const auto& evidence : made.evidence) {
    if (!evidence->quality.partial) continue;
    const auto& missing = evidence->quality.missing;
    print_note("the input is damaged or cut; what could be read is converted" +
               (missing.empty() ? "" : ": " + missing.front()));
    return;
  }
}

Result<ExitCode> write(const Export& made, const Target& target, ResultFile file) {
  report::Sink sink([&file](std::string_view text) { file.write(text); });
  target.write(made.view, sink);
  const bool partial = std::ranges::any_of(made.evidence, [](const auto& one) { return one->quality.partial; });
  say(made);
  return file.keep().map([partial] { return partial ? ExitCode::bad_input : ExitCode::yes; });
}

Result<ExitCode> run_convert(const Arguments& arguments) {
  if (arguments.positionals.empty())
    return fail(ErrorKind::usage, "what is missing is a run or a file", "ullage convert",
                "ullage convert RUN|FILE --to FORMAT");
  const auto target = target_of(arguments);
  if (!target) return tl::unexpected(target.error());
  const std::string out = arguments.text("out").value_or("-");
  if (const auto checked = check_terminal(*target, out); !checked) return tl::unexpected(checked.error());
  auto file = ResultFile::open(out, arguments.given("force"));
  if (!file) return tl::unexpected(file.error());
  auto evidence = open_run_or_file(arguments.positionals.front());
  if (!evidence) return tl::unexpected(evidence.error());
  const auto made = export_of(std::move(*evidence));
  if (!made) return tl::unexpected(made.error());
  if (const auto checked = check_content(*made, *target); !checked) return tl::unexpected(checked.error());
  return write(*made, *target, std::move(*file));
}

constexpr Flag convert_flags[] = {
    {"to", "FORMAT", "memory-viz, perfetto or csv", FlagKind::text},
    {"out", "FILE", "where to write; - is the standard output", FlagKind::text, "-"},
    {"force", "", "replace FILE when it is there", FlagKind::toggle},
    store_flag,
};

}  // namespace

const Command convert_command{
    "convert",
    "a run or file in another format: memory-viz, perfetto, csv",
    "RUN|FILE --to FORMAT [FLAGS]",
    "RUN is a run directory, an id or its beginning, a name (its newest run), or @last; FILE a memory snapshot, a "
    "trace of\n"
    "torch.profiler with memory events, a file of export_memory_timeline or a log of nvidia-smi (the last two: "
    "perfetto\n"
    "and csv only).\n"
    "memory-viz  a pickle for PyTorch's viewer (pytorch.org/memory_viz) and for Ullage itself, every allocation with\n"
    "            its category, module and operator\n"
    "perfetto    JSON for ui.perfetto.dev: curves of each category, phases, operators, failed requests\n"
    "csv         a row per allocation, or per sample of a counter",
    {convert_flags, 1, false},
    run_convert};

}  // namespace ullage::cli
