// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/resolve.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

struct KeptRun {
  std::string name;
  fs::path path;
  fs::file_time_type time;
};

std::vector<KeptRun> kept_runs() {
  std::vector<KeptRun> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs_directory(), error)) {
    if (!entry.is_directory(error)) continue;
    if (!fs::exists(directory_with_marks(entry.path()) / "marks.jsonl", error))
      continue;  // a rehearsal that never reached torch
    runs.push_back({entry.path().filename().string(), entry.path(), entry.last_write_time(error)});
  }
  std::ranges::sort(runs, {}, &KeptRun::name);
  return runs;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Result<std::string> newest(const std::vector<KeptRun>& runs) {
  const auto last = std::ranges::max_element(runs, {}, &KeptRun::time);
  if (last != runs.end()) return last->path.string();
  return fail(ErrorKind::usage, "there is no kept run", "@last", "a run under " + runs_directory().string(),
              "make one with 'ullage rehearse'");
}

Result<std::string> by_name(const std::string& name, const std::vector<KeptRun>& runs) {
  std::vector<std::string_view> names;
  std::vector<const KeptRun*> beginning;
  for (const KeptRun& run : runs) {
    if (run.name == name) return run.path.string();
    if (run.name.starts_with(name)) beginning.push_back(&run);
    names.push_back(run.name);
  }
  if (beginning.size() == 1) return beginning.front()->path.string();
  if (beginning.size() > 1)
    return fail(ErrorKind::usage, "several kept runs begin like this", name, "one run", suggestion(name, names));
  return fail(ErrorKind::usage, "there is no such file and no such run", name, "a path, a kept run's name, or @last",
              suggestion(name, names));
}

}  // namespace

fs::path runs_directory() {
  if (const std::string xdg = variable("XDG_DATA_HOME"); !xdg.empty()) return fs::path(xdg) / "ullage" / "runs";
  if (const std::string home = variable("HOME"); !home.empty())
    return fs::path(home) / ".local" / "share" / "ullage" / "runs";
  return fs::temp_directory_path() / "ullage" / "runs";
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
  std::error_code error;
  if (argument == "-" || fs::exists(argument, error)) return argument;
  const auto runs = kept_runs();
  return argument == "@last" ? newest(runs) : by_name(argument, runs);
}

}  // namespace ullage::cli
