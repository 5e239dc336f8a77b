// SPDX-License-Identifier: Apache-2.0
#include "launch/installation.hpp"

#include "base/text.hpp"
#include "launch/file_protection.hpp"
#include "launch/trackers.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace ullage {
namespace {

namespace fs = std::filesystem;

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

Result<fs::path> library_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorKind::unsupported, "cannot find this program's own folder", "/proc/self/exe");
  return program.parent_path().parent_path() / "lib" / "ullage";
}

std::vector<std::string> libraries_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// `first` before what the variable holds already.
std::string prepend(const std::string& first, const char* name) {
  const std::string held = variable(name);
  return held.empty() ? first : first + ":" + held;
}

using Changes = std::map<std::string, std::optional<std::string>>;

/// The protection of files comes first: the functions of libc that it replaces are also those of the others.
std::string preload_list(const Installation& installation, bool protect) {
  std::vector<std::string> list = libraries_in(installation.library_set);
  if (protect) list.insert(list.begin(), installation.file_library);
  return join(list, ":");
}

void add_file_protection(Changes& changes, const RehearsalSettings& settings) {
  auto folders = written_through_folders(variable, settings.run_directory);
  if (!settings.compiler_cache.empty() && settings.compiler_cache.find(':') == std::string::npos)
    folders.push_back(settings.compiler_cache);
  changes["ULLAGE_FILES_DIR"] = settings.run_directory + "/files";
  changes["ULLAGE_FILES_THROUGH"] = join(folders, ":");
}

/// Not the user's own caches: choices that were timed on the virtual device must not reach a real run.
void add_compiler_cache(Changes& changes, const std::string& folder) {
  if (folder.empty()) return;
  changes["TORCHINDUCTOR_CACHE_DIR"] = folder + "/inductor";
  changes["TRITON_CACHE_DIR"] = folder + "/triton";
}

}  // namespace

Result<Installation> find_installation() {
  const auto folder = library_folder();
  if (!folder) return tl::unexpected(folder.error());
  Installation found{(*folder / "cuda13").string(), (*folder / "files" / "libullage_files.so").string(),
                     (*folder / "site").string()};
  std::error_code error;
  for (const auto& part : {found.library_set, found.file_library, found.hook})
    if (!fs::exists(part, error))
      return fail(ErrorKind::internal, "a part of this installation is missing", part, {},
                  "build it with scripts/build, or install the wheel again");
  if (found.library_set.find_first_of(" :") != std::string::npos)
    return fail(ErrorKind::unsupported, "the installation's path holds a space or a colon", found.library_set,
                "a path that LD_PRELOAD can carry", "install Ullage in another folder");
  return found;
}

Result<std::string> find_hook() {
  const auto folder = library_folder();
  if (!folder) return tl::unexpected(folder.error());
  const fs::path hook = *folder / "site";
  std::error_code error;
  if (fs::exists(hook / "sitecustomize.py", error)) return hook.string();
  return fail(ErrorKind::internal, "a part of this installation is missing", hook.string(), {},
              "build it with scripts/build, or install the wheel again");
}

std::map<std::string, std::optional<std::string>> recording_environment(const std::string& hook,
                                                                        const RecordingSettings& settings) {
  Changes changes{{"PYTHONPATH", prepend(hook, "PYTHONPATH")}, {"ULLAGE_RECORD", "1"}};
  const std::pair<const char*, const std::string&> given[] = {{"ULLAGE_RECORD_NAME", settings.name},
                                                              {"ULLAGE_RECORD_DIR", settings.directory},
                                                              {"ULLAGE_RECORD_INTERVAL", settings.interval},
                                                              {"ULLAGE_RECORD_HISTORY", settings.history},
                                                              {"ULLAGE_RECORD_PROFILE", settings.profile}};
  for (const auto& [name, value] : given)
    if (!value.empty()) changes[name] = value;
  return changes;
}

std::map<std::string, std::optional<std::string>> rehearsal_environment(const Installation& installation,
                                                                        const RehearsalSettings& settings) {
  std::map<std::string, std::optional<std::string>> environment{
      {"LD_PRELOAD", prepend(preload_list(installation, !settings.allow_writes), "LD_PRELOAD")},
      {"PYTHONPATH", prepend(installation.hook, "PYTHONPATH")},
      {"TRITON_LIBCUDA_PATH", installation.library_set},
      {"ULLAGE_HOOK", "1"},
      {"ULLAGE_VGPU_RUN", settings.run_directory},
      {"ULLAGE_VGPU_PROFILE", settings.profile},
      {"ULLAGE_STEPS", settings.steps},
      {"ULLAGE_STACKS", settings.stacks},
      {"ULLAGE_OPERATORS", settings.operators},
      {"ULLAGE_ROUTING", settings.routing},
      {"ULLAGE_UNLIMITED", settings.unlimited ? "1" : "0"},
  };
  environment.merge(local_trackers(variable, settings.run_directory));
  if (!settings.allow_writes) add_file_protection(environment, settings);
  add_compiler_cache(environment, settings.compiler_cache);
  if (settings.host_memory) environment.emplace("ULLAGE_HOST_MEMORY", std::to_string(*settings.host_memory));
  if (!settings.cudnn_version.empty()) environment.emplace("ULLAGE_CUDNN_VERSION", settings.cudnn_version);
  return environment;
}

}  // namespace ullage
