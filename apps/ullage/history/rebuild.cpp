// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/transfer.hpp"
#include "apps/ullage/output.hpp"
#include "base/text.hpp"
#include "report/json/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t together = 64;  ///< runs in one transaction
constexpr std::size_t skipped_shown = 20;

struct Skipped {
  std::string directory, reason;
};

struct Rebuilt {
  std::size_t indexed = 0;
  std::vector<Skipped> skipped;
  std::string put_aside;  ///< the damaged store
};

/// Run directories at or below a folder, in order; a second run inside a run is part of it.
std::vector<std::string> runs_below(const fs::path& folder) {
  if (is_run_directory(folder.string())) return {folder.string()};
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (!entry->is_directory(error) || !is_run_directory(entry->path().string())) continue;
    found.push_back(entry->path().string());
    entry.disable_recursion_pending();
  }
  std::ranges::sort(found);
  return found;
}

Result<std::vector<std::string>> asked_folders(const Arguments& arguments) {
  std::vector<std::string> folders(arguments.positionals.begin() + 1, arguments.positionals.end());
  std::error_code error;
  for (const std::string& folder : folders)
    if (!fs::is_directory(folder, error)) return fail(ErrorKind::usage, "this is no folder", folder);
  if (folders.empty()) folders.push_back(runs_directory().string());
  return folders;
}

/// A store that SQLite cannot read is kept beside the new one.
Result<store::Store> usable_store(Rebuilt& rebuilt) {
  auto store = make_store();
  const std::string path = store_path();
  if (store || path.empty() || !store::is_damaged(path)) return store;
  rebuilt.put_aside = path + ".damaged";
  std::error_code error;
  fs::rename(path, rebuilt.put_aside, error);
  if (error) return fail(ErrorKind::io, "cannot put the damaged store aside: " + error.message(), path);
  for (const char* companion : {"-wal", "-shm"}) fs::remove(path + companion, error);
  return make_store();
}

Result<void> take_up(store::Store& store, const std::vector<std::string>& directories, Rebuilt& rebuilt) {
  std::vector<store::Record> records;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    if (auto record = read_record(directories[i]))
      records.push_back(std::move(*record));
    else
      rebuilt.skipped.push_back({directories[i], record.error().what});
    if (records.size() < together && i + 1 < directories.size()) continue;
    if (const auto stored = store.put(records); !stored) return stored;
    rebuilt.indexed += records.size();
    records.clear();
  }
  return {};
}

std::string text_of(const Rebuilt& rebuilt) {
  std::string text = fmt::format("{} taken up, {} skipped\n", counted(rebuilt.indexed, "run"), rebuilt.skipped.size());
  if (!rebuilt.put_aside.empty()) text += "the store was damaged; it is now " + rebuilt.put_aside + "\n";
  const std::size_t shown = std::min(skipped_shown, rebuilt.skipped.size());
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("  skipped {}: {}\n", printable(rebuilt.skipped[i].directory, false),
                        printable(rebuilt.skipped[i].reason, false));
  if (shown < rebuilt.skipped.size()) text += fmt::format("  and {} more\n", rebuilt.skipped.size() - shown);
  return text;
}

std::string json_of(const Rebuilt& rebuilt) {
  JsonWriter json;
  json.begin_result("store");
  json.field("action", "rebuild");
  json.field("runs", std::uint64_t{rebuilt.indexed});
  json.begin_array("skipped");
  for (const Skipped& one : rebuilt.skipped) {
    json.begin_object();
    json.field("directory", std::string_view(one.directory));
    json.field("reason", std::string_view(one.reason));
    json.end_object();
  }
  json.end_array();
  if (!rebuilt.put_aside.empty()) json.field("damaged_store", std::string_view(rebuilt.put_aside));
  json.end_object();
  return json.text();
}

}  // namespace

Result<ExitCode> rebuild_store(const Arguments& arguments) {
  const auto folders = asked_folders(arguments);
  if (!folders) return tl::unexpected(folders.error());
  Rebuilt rebuilt;
  auto store = usable_store(rebuilt);
  if (!store) return tl::unexpected(store.error());
  for (const std::string& folder : *folders)
    if (const auto done = take_up(*store, runs_below(folder), rebuilt); !done) return tl::unexpected(done.error());
  return print_result(arguments.given("json") ? json_of(rebuilt) : text_of(rebuilt)).map([] { return ExitCode::yes; });
}

}  // namespace ullage::cli
