// SPDX-License-Identifier: Apache-2.0
// `ullage rm`: takes runs out of the history.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_runs = 1000;

Result<RunPlace> named_run(const std::string& argument) {
  return resolve_run(argument, RunPart::result).map([](RunPlace place) {
    if (place.id.empty()) place.id = id_of_directory(place.directory);
    return place;
  });
}

/// False when it was not in the history.
Result<bool> forget(const std::string& id) {
  auto store = open_store();
  if (!store) return tl::unexpected(store.error());
  return *store ? (*store)->remove(id) : Result<bool>(false);
}

/// True for a folder of the runs directory, and for one that the history took up here: not for one that only an
/// imported history names.
Result<bool> was_made_here(const RunPlace& place) {
  if (is_kept_run(place.directory) && id_of_directory(place.directory) == place.id) return true;
  auto store = open_store();
  if (!store) return tl::unexpected(store.error());
  if (!*store) return false;
  return (*store)->find(place.id).map([&](const std::optional<store::Source>& source) {
    return source && !source->imported && source->directory == absolute_path(place.directory);
  });
}

Result<bool> remove_files(const RunPlace& place) {
  const std::string& directory = place.directory;
  std::error_code error;
  if (!fs::exists(directory, error)) return false;
  if (!is_run_directory(directory))
    return fail(ErrorKind::usage, "this is no run directory; nothing was removed", directory);
  const auto own = was_made_here(place);
  if (!own) return tl::unexpected(own.error());
  if (!*own)
    return fail(ErrorKind::usage, "this folder was not taken up by the history of this machine; nothing was removed",
                directory, "a run that was made or rebuilt here",
                "without --files the run leaves the history alone; the folder is yours to remove");
  fs::remove_all(directory, error);
  if (error) return fail(ErrorKind::io, "cannot remove the run directory: " + error.message(), directory);
  return true;
}

/// The files first: where they cannot be removed, the run stays in the history.
Result<std::string> remove(const RunPlace& place, bool files) {
  const auto removed = files ? remove_files(place) : Result<bool>(false);
  if (!removed) return tl::unexpected(removed.error());
  const auto forgotten = forget(place.id);
  if (!forgotten) return tl::unexpected(forgotten.error());
  if (!*forgotten && !*removed)
    return fail(ErrorKind::usage, "this run is not in the history", place.id, {},
                "--files removes the directory " + place.directory);
  return fmt::format("{}: {}{}{}\n", place.id, *forgotten ? "removed from the history" : "",
                     *forgotten && *removed ? ", " : "",
                     *removed ? "removed " + printable(place.directory, false) : "");
}

Result<ExitCode> run_rm(const Arguments& arguments) {
  if (arguments.positionals.empty())
    return fail(ErrorKind::usage, "what is missing is a run", "ullage rm", "ullage rm RUN... [--files]");
  std::vector<RunPlace> places;  // all are found before the first is removed
  for (const std::string& argument : arguments.positionals) {
    auto place = named_run(argument);
    if (!place) return tl::unexpected(place.error());
    places.push_back(std::move(*place));
  }
  std::string text;
  for (const RunPlace& place : places) {
    const auto done = remove(place, arguments.given("files"));
    if (!done) return tl::unexpected(done.error());
    text += *done;
  }
  return print_result(text).map([] { return ExitCode::yes; });
}

constexpr Flag rm_flags[] = {
    {"files", "", "remove the run directory too", FlagKind::toggle},
    store_flag,
};

}  // namespace

const Command rm_command{"rm",
                         "take runs out of the history, with --files for good",
                         "RUN... [--files]",
                         "RUN is a run directory, an id or its beginning, a name (its newest run), or @last. Without "
                         "--files the directory\nstays, and 'ullage store rebuild' brings the run back.",
                         {rm_flags, most_runs, false},
                         run_rm};

}  // namespace ullage::cli
