// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/files/marks.hpp"

namespace ullage::files {

void Marks::apply(const FileRecord& record) {
  if (record.mark == FileMark::none)
    marks_.erase(record.path);
  else
    marks_[record.path] = record.mark;
}

FileMark Marks::of(const std::string& path) const {
  const auto found = marks_.find(path);
  return found == marks_.end() ? FileMark::none : found->second;
}

bool Marks::created(std::string_view path) const {
  if (marks_.empty()) return false;
  for (; path.size() > 1; path = parent_of(path))
    if (of(std::string(path)) == FileMark::created) return true;
  return false;
}

std::vector<std::string> Marks::below(const std::string& folder) const {
  std::vector<std::string> found;
  for (const auto& [path, mark] : marks_)
    if (path != folder && lies_in(path, folder)) found.push_back(path);
  return found;
}

bool lies_in(std::string_view path, std::string_view folder) {
  if (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool written_through(std::string_view path, std::string_view folders) {
  constexpr std::string_view cache = "/__pycache__";
  const std::size_t at = path.find(cache);
  if (at != path.npos && (at + cache.size() == path.size() || path[at + cache.size()] == '/')) return true;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    if (!folder.empty() && lies_in(path, folder)) return true;
    folders.remove_prefix(folder.size() < folders.size() ? folder.size() + 1 : folder.size());
  }
  return false;
}

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == path.npos ? "/" : path.substr(0, slash);
}

std::string_view database_of(std::string_view path) {
  for (const std::string_view suffix : {"-wal", "-shm", "-journal"})
    if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
  return {};
}

}  // namespace ullage::files
