// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/owner.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

std::string owner_pid(const fs::path& directory) {
  std::ifstream file(directory / "owner");
  std::string pid;
  file >> pid;
  return pid;
}

/// Folders of processes that gave the run up, in order of their names.
std::set<fs::path> earlier_processes(const fs::path& directory) {
  std::set<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with("process-") && fs::exists(entry.path() / "marks.jsonl", ignored))
      found.insert(entry.path());
  }
  return found;
}

std::uintmax_t log_bytes(const fs::path& folder) {
  std::error_code error;
  const auto bytes = fs::file_size(folder / "device.ulog", error);
  return error ? 0 : bytes;
}

bool promote(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    fs::rename(entry.path(), folder.parent_path() / entry.path().filename(), ignored);
  }
  fs::remove(folder, error);
  return fs::exists(folder.parent_path() / "marks.jsonl", error);
}

}  // namespace

bool settle_owner(const std::string& directory) {
  const fs::path root = directory;
  std::error_code error;
  if (fs::exists(root / "marks.jsonl", error)) return true;
  if (const std::string pid = owner_pid(root); !pid.empty()) {
    fs::rename(root / ("marks-" + pid + ".jsonl"), root / "marks.jsonl", error);
    return !error;
  }
  fs::path best;
  for (const auto& folder : earlier_processes(root))
    if (best.empty() || log_bytes(folder) > log_bytes(best)) best = folder;
  return !best.empty() && promote(best);
}

}  // namespace ullage::cli
