// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/resolve.hpp"

#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/take_in.hpp"
#include "apps/ullage/paths.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t candidates_asked = 64;
constexpr std::size_t candidates_shown = 8;
constexpr const char* second_run = "unlimited";

struct KnownRun {
  std::string id;
  fs::path path;
  std::int64_t time_ms = 0;
};

bool has(const fs::path& directory, RunPart part) {
  std::error_code error;
  const bool marks = fs::exists(directory_with_marks(directory) / "marks.jsonl", error);
  if (part == RunPart::evidence) return marks;
  if (marks) take_in_recording(directory);
  return fs::exists(directory / "run.json", error);
}

bool is_there(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory, error);
}

std::int64_t ms_of(fs::file_time_type time) {
  const auto since = std::chrono::file_clock::to_sys(time).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

/// Those in the runs directory.
std::vector<KnownRun> kept_runs(RunPart part) {
  std::vector<KnownRun> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs_directory(), error)) {
    if (!entry.is_directory(error) || !has(entry.path(), part)) continue;
    runs.push_back({entry.path().filename().string(), entry.path(), ms_of(entry.last_write_time(error))});
  }
  std::ranges::sort(runs, {}, &KnownRun::id);
  return runs;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

KnownRun known(const store::Summary& run) {
  return {run.id, run.directory, run.started_ms};
}

/// Answers from both places; an error of the store counts only where the kept runs have no answer.
class Search {
 public:
  explicit Search(RunPart part) : part_(part) {
    auto store = open_history();
    kept_ = kept_runs(part);
    if (store)
      store_ = std::move(*store);
    else
      failure_ = store.error();
  }

  Result<RunPlace> newest() {
    std::optional<KnownRun> last;
    store::Query query;
    query.limit = candidates_asked;
    for (const auto& row : stored([&](store::Store& store) { return store.list(query); })) {
      // One that left no evidence does not count; one whose files are elsewhere does, and is said to be.
      if (part_ == RunPart::evidence && is_there(row.summary.directory) && !has(row.summary.directory, part_)) continue;
      last = known(row.summary);
      break;
    }
    const std::vector<KnownRun> others = kept_alone();
    const auto kept = std::ranges::max_element(others, {}, &KnownRun::time_ms);
    if (kept != others.end() && (!last || kept->time_ms > last->time_ms)) last = *kept;
    if (last) return place_of(last->id, last->path.string());
    if (failure_) return tl::unexpected(*failure_);
    return fail(ErrorKind::usage, "there is no run yet", "@last", "a run under " + runs_directory().string(),
                "make one with 'ullage rehearse'");
  }

  Result<RunPlace> find(const std::string& word) {
    if (word.empty())  // every id begins like this
      return fail(ErrorKind::usage, "the run has no name", "''", "a path, the id or the name of a run, or @last");
    std::map<std::string, std::string> beginning;  // id -> directory
    for (const KnownRun& run : kept_)
      if (run.id.starts_with(word)) beginning[run.id] = run.path.string();
    std::map<std::string, std::string> names;
    for (const auto& run : stored([&](store::Store& s) { return s.with_prefix(word, candidates_asked); })) {
      beginning.try_emplace(run.id, run.directory);
      names[run.id] = run.name;
    }
    if (const auto exact = beginning.find(word); exact != beginning.end()) return place_of(word, exact->second);
    if (beginning.size() == 1) return place_of(beginning.begin()->first, beginning.begin()->second);
    const auto named = stored([&](store::Store& s) { return s.named(word, 1); });
    if (!named.empty()) return place_of(named[0].id, named[0].directory);
    if (failure_) return tl::unexpected(*failure_);
    return beginning.empty() ? unknown(word) : ambiguous(word, beginning, names);
  }

 private:
  template <class Ask>
  auto stored(Ask ask) -> typename std::invoke_result_t<Ask, store::Store&>::value_type {
    if (!store_) return {};
    auto found = ask(*store_);
    if (found) return std::move(*found);
    failure_ = found.error();
    return {};
  }

  RunPlace place_of(const std::string& id, const std::string& directory) {
    const auto source = stored([&](store::Store& store) { return store.find(id); });
    return {id, directory, source && source->imported};
  }

  /// Kept runs that the store does not know.
  std::vector<KnownRun> kept_alone() {
    const auto ids = stored([](store::Store& store) { return store.ids(); });
    const std::unordered_set<std::string> known(ids.begin(), ids.end());
    std::vector<KnownRun> others = kept_;
    std::erase_if(others, [&](const KnownRun& run) { return known.contains(run.id); });
    return others;
  }

  static tl::unexpected<Error> ambiguous(const std::string& word, const std::map<std::string, std::string>& runs,
                                         const std::map<std::string, std::string>& names) {
    std::vector<std::string> shown;
    for (const auto& [id, directory] : runs) {
      if (shown.size() == candidates_shown) break;
      const auto name = names.find(id);
      shown.push_back(name == names.end() ? id : fmt::format("{} ({})", id, name->second));
    }
    std::string list = join(shown, ", ");
    if (runs.size() > shown.size()) list += fmt::format(" and {} more", runs.size() - shown.size());
    return fail(ErrorKind::usage, "several runs begin like this", "'" + word + "'", "one of " + list);
  }

  tl::unexpected<Error> unknown(const std::string& word) {
    store::Query query;
    query.limit = candidates_asked;
    std::vector<std::string> ids;
    for (const KnownRun& run : kept_) ids.push_back(run.id);
    for (const auto& row : stored([&](store::Store& store) { return store.list(query); })) {
      ids.push_back(row.summary.id);
      ids.push_back(row.summary.name);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    const std::vector<std::string_view> names(ids.begin(), ids.end());
    return fail(ErrorKind::usage, "there is no such file and no such run", word,
                "a path, the id or the name of a run, or @last ('ullage runs' lists them)", suggestion(word, names));
  }

  RunPart part_;
  std::vector<KnownRun> kept_;
  std::optional<store::Store> store_;
  std::optional<Error> failure_;
};

}  // namespace

std::optional<fs::path> data_directory() {
  if (const std::string xdg = variable("XDG_DATA_HOME"); !xdg.empty()) return fs::path(xdg) / "ullage";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".local" / "share" / "ullage";
  return std::nullopt;
}

fs::path runs_directory() {
  return data_directory().value_or(temporary_folder() / "ullage") / "runs";
}

fs::path unlimited_run(const fs::path& path) {
  return path / second_run;
}

bool has_unlimited_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(unlimited_run(path) / "marks.jsonl", error);
}

fs::path directory_with_result(const fs::path& path) {
  std::error_code error;
  const bool second = path.filename() == second_run && !fs::exists(path / "run.json", error);
  return second && fs::exists(path.parent_path() / "run.json", error) ? path.parent_path() : path;
}

Result<RunPlace> resolve_run(const std::string& argument, RunPart part) {
  std::error_code error;
  const bool exists = fs::exists(argument, error);
  if (const fs::path word = argument; !exists && word.has_parent_path() && word.filename() == second_run)
    return resolve_run(word.parent_path().string(), RunPart::evidence).map([](const RunPlace& place) {
      return RunPlace{{}, unlimited_run(place.directory).string(), place.imported};
    });
  if (exists && part == RunPart::result) (void)has(argument, part);  // a recording that ended gets its result
  if (exists && (!fs::is_directory(argument, error) || is_run_directory(argument))) return RunPlace{{}, argument};
  Search search(part);
  auto found = argument == "@last" ? search.newest() : search.find(argument);
  return exists && !found ? RunPlace{{}, argument} : found;
}

fs::path directory_with_marks(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path / "marks.jsonl", error)) return path;
  std::optional<std::pair<std::size_t, std::string>> first;  // by length and text: rank-2 before rank-10
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string rank = entry.path().filename().string();
    if (!rank.starts_with("rank-") || !fs::exists(entry.path() / "marks.jsonl", error)) continue;
    if (const std::pair found{rank.size(), rank}; !first || found < *first) first = found;
  }
  return first ? path / first->second : path;
}

Result<std::string> resolve_run_or_file(const std::string& argument) {
  if (argument == "-") return argument;
  return resolve_run(argument, RunPart::evidence).and_then([&](const RunPlace& place) -> Result<std::string> {
    if (is_there(place.directory)) return place.directory;
    return fail(ErrorKind::usage,
                place.imported ? "this run was imported: its files are not on this machine"
                               : "the directory of this run is gone",
                place.directory, "a run whose files are here",
                "the history has its result: 'ullage show " + place.id + "'");
  });
}

}  // namespace ullage::cli
