// SPDX-License-Identifier: Apache-2.0
#include "launch/file_protection.hpp"

#include "base/file_journal.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace ullage {
namespace {

namespace fs = std::filesystem;

/// Variables that name a cache. HF_HOME also holds the token and settings: they are small, and the hub's library
/// writes them by itself.
constexpr const char* cache_variables[] = {
    "XDG_CACHE_HOME",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "HF_DATASETS_CACHE",
    "HF_ASSETS_CACHE",
    "HF_XET_CACHE",
    "HF_MODULES_CACHE",
    "TRANSFORMERS_CACHE",
    "TORCH_HOME",
    "TORCH_EXTENSIONS_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "TRITON_HOME",
    "CUDA_CACHE_PATH",
    "PYTORCH_KERNEL_CACHE_PATH",
    "NUMBA_CACHE_DIR",
    "MPLCONFIGDIR",
    "PYTHONPYCACHEPREFIX",
    "SENTENCE_TRANSFORMERS_HOME",
    "TIKTOKEN_CACHE_DIR",
    "VLLM_CACHE_ROOT",
    "TFHUB_CACHE_DIR",
    "WANDB_CACHE_DIR",
    "WANDB_DATA_DIR",
    "CCACHE_DIR",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "FLASHINFER_WORKSPACE_BASE",
};
constexpr const char* home_caches[] = {".cache", ".triton", ".nv", ".ccache"};
/// Below HF_HOME, where that itself is not believed.
constexpr const char* hub_caches[] = {"hub", "datasets", "assets", "xet", "modules"};

std::string real(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path found = fs::weakly_canonical(absolute, error);
  std::string text = (error ? absolute.lexically_normal() : found).string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool lies_in(const std::string& path, const std::string& folder) {
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

class Folders {
 public:
  explicit Folders(const std::string& home) : home_(home.empty() ? "" : real(home)), working_(real(".")) {}

  /// True when it was believed.
  bool add_cache(const std::string& path) {
    if (path.empty()) return false;
    const std::string folder = real(path);
    const bool everything = lies_in(working_, folder) || (!home_.empty() && lies_in(home_, folder));
    if (!everything) add(folder);
    return !everything;
  }

  void add(const std::string& folder) {
    // The list is separated by colons: a folder with one in its name stays protected.
    if (folder.find(':') == std::string::npos && std::find(list.begin(), list.end(), folder) == list.end())
      list.push_back(folder);
  }

  std::vector<std::string> list;

 private:
  std::string home_, working_;
};

/// PyTorch's compiler has a cache there when no variable says otherwise.
std::string inductor_cache(const Variables& variables) {
  const std::string temporary = variables("TMPDIR");
  std::string user = variables("LOGNAME");
  for (const char* name : {"USER", "LNAME", "USERNAME"})
    if (user.empty()) user = variables(name);
  return (temporary.empty() ? "/tmp" : temporary) + "/torchinductor_" + (user.empty() ? "root" : user);
}

std::string files_folder(const std::string& run_directory) {
  return run_directory + "/files";
}

using Marks = std::map<std::string, FileMark>;

Marks read_marks(const std::string& run_directory) {
  std::ifstream file(files_folder(run_directory) + "/journal", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<FileRecord> records;
  read_journal(text, records);
  Marks marks;
  for (auto& record : records) marks[std::move(record.path)] = record.mark;
  return marks;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found && !error;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::directory;
}

/// Sockets and pipes hold nothing: workers of a DataLoader leave some in the temporary folder.
bool holds_nothing(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  return type == fs::file_type::socket || type == fs::file_type::fifo;
}

/// The file, or all files of the folder.
void add_files(const std::string& path, std::vector<std::string>& files) {
  if (!is_folder(path)) {
    if (is_there(path) && !holds_nothing(path)) files.push_back(path);
    return;
  }
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(path, options, error), end; !error && entry != end;
       entry.increment(error))
    if (!is_folder(entry->path()) && !holds_nothing(entry->path())) files.push_back(entry->path().string());
}

std::string move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_directories(to.parent_path(), error);
  fs::rename(from, to, error);
  if (!error) return {};
  error.clear();
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (!error) fs::remove_all(from, error);
  return error ? from.string() + " could not be moved away: " + error.message() : std::string();
}

}  // namespace

std::vector<std::string> written_through_folders(const Variables& variables, const std::string& run_directory) {
  const std::string home = variables("HOME");
  Folders folders(home);
  for (const char* device : {"/dev", "/proc", "/sys"}) folders.add(device);
  folders.add(real(run_directory));
  for (const char* name : cache_variables) folders.add_cache(variables(name));
  if (const std::string hub = variables("HF_HOME"); !hub.empty())
    for (const char* cache : hub_caches) folders.add_cache(hub + "/" + cache);
  if (!home.empty())
    for (const char* cache : home_caches) folders.add_cache(home + "/" + cache);
  folders.add_cache(inductor_cache(variables));
  return folders.list;
}

Result<void> prepare_file_protection(const std::string& run_directory) {
  std::error_code error;
  fs::create_directories(files_folder(run_directory), error);
  const std::string path = files_folder(run_directory) + "/state";
  // Real bytes: a page that the disk has no room for would end a process that touches it.
  std::ofstream file(path, std::ios::binary);
  file << std::string(4096, '\0');
  file.close();
  if (!file) return fail(ErrorKind::io, "the protection of files cannot be prepared", path);
  return {};
}

TouchedFiles touched_files(const std::string& run_directory) {
  TouchedFiles files;
  for (const auto& [path, mark] : read_marks(run_directory)) {
    if (mark == FileMark::created) add_files(path, files.created);
    if (mark == FileMark::shadowed && is_there(path)) files.overwritten.push_back(path);
    if (mark == FileMark::deleted && is_there(path) && !is_folder(path)) files.deleted.push_back(path);
  }
  std::sort(files.created.begin(), files.created.end());
  files.created.erase(std::unique(files.created.begin(), files.created.end()), files.created.end());
  return files;
}

std::vector<std::string> take_created_files_back(const std::string& run_directory) {
  std::vector<std::string> problems;
  // In the order of paths a folder comes before what is in it, and takes it along.
  for (const auto& [path, mark] : read_marks(run_directory)) {
    if (mark != FileMark::created || !is_there(path)) continue;
    const std::string problem = move_file(path, files_folder(run_directory) + "/created" + path);
    if (!problem.empty()) problems.push_back(problem);
  }
  return problems;
}

}  // namespace ullage
