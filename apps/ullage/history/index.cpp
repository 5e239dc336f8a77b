// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/index.hpp"

#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "ingest/file/mapped_file.hpp"

#include <chrono>
#include <filesystem>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

/// When the last fact or, without facts, the result was written: a result may come long after its run.
std::int64_t ended_ms(const fs::path& directory) {
  std::error_code error;
  const fs::path marks = directory / "marks.jsonl";
  const auto time = fs::last_write_time(fs::exists(marks, error) ? marks : directory / "run.json", error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration_cast<std::chrono::milliseconds>(system.time_since_epoch()).count();
}

}  // namespace

std::string absolute_path(const std::string& directory) {
  std::error_code error;
  fs::path path = fs::absolute(directory, error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.string();
}

bool is_kept_run(const std::string& directory) {
  return fs::path(absolute_path(directory)).parent_path() == absolute_path(runs_directory().string());
}

std::string id_of_directory(const std::string& directory) {
  const fs::path path = absolute_path(directory);
  const std::string name = path.filename().string();
  if (is_kept_run(directory)) return name;
  return name + "-" + store::hash_of(path.string()).substr(0, 8);
}

bool is_run_directory(const std::string& directory) {
  std::error_code error;
  return fs::exists(fs::path(directory) / "run.json", error) || fs::exists(fs::path(directory) / "marks.jsonl", error);
}

Result<store::Record> read_record(const std::string& directory) {
  const fs::path path = absolute_path(directory), file = path / "run.json";
  std::error_code error;
  if (!fs::exists(file, error)) {
    if (is_run_directory(directory))
      return fail(ErrorKind::bad_input, "the run did not end: it has no result", file.string());
    return fail(ErrorKind::bad_input, "this is no run directory", path.string(), "a folder with run.json",
                "'ullage runs' lists the runs");
  }
  const auto bytes = ingest::MappedFile::open(file.string());
  if (!bytes) return tl::unexpected(bytes.error());
  const auto text = bytes->bytes();
  return store::record_of({id_of_directory(directory), path.string(), ended_ms(path),
                           std::string(reinterpret_cast<const char*>(text.data()), text.size())});
}

void index_run(const std::string& directory) {
  if (store_path().empty()) return;
  const auto stored = read_record(directory).and_then([](const store::Record& record) {
    return make_store().and_then([&](store::Store store) { return store.put(record); });
  });
  if (!stored) print_note("this run is not in the history: " + describe(stored.error()));
}

}  // namespace ullage::cli
