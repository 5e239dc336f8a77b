// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/files.hpp"

#include "apps/ullage/output.hpp"
#include "launch/file_protection.hpp"

#include <filesystem>

namespace ullage::cli {

namespace fs = std::filesystem;

Result<void> prepare_files(const RehearsalOptions& options, const std::string& directory) {
  std::error_code error;
  fs::create_directory(directory + "/trackers", error);
  if (error) return fail(ErrorKind::io, "cannot make a folder: " + error.message(), directory + "/trackers");
  return options.allow_writes ? Result<void>() : prepare_file_protection(directory);
}

void tidy_files(const std::string& directory) {
  std::error_code error;
  fs::remove(directory + "/trackers", error);  // only when it is empty
  fs::remove_all(directory + "/files/making", error);
}

void take_files_back(const std::string& directory) {
  for (const auto& problem : take_created_files_back(directory)) print_note(problem);
}

void clear_for_rerun(const std::string& directory) {
  take_files_back(directory);
  std::error_code error;
  fs::rename(directory + "/files", directory + "/files-before", error);
  for (const auto& entry : fs::directory_iterator(directory, error))
    if (entry.path().filename() != "files-before") fs::remove_all(entry.path(), error);
}

void take_files(report::RunResult& result, const RehearsalOptions& options, const Attempt& attempt) {
  result.files.protected_by_shadow = !options.allow_writes;
  TouchedFiles touched = touched_files(attempt.directory);
  result.files.created = std::move(touched.created);
  result.files.overwritten = std::move(touched.overwritten);
  result.files.deleted = std::move(touched.deleted);
}

}  // namespace ullage::cli
