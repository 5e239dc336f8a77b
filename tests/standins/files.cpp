// SPDX-License-Identifier: Apache-2.0
// The protection of files under a C++ program: files PROTECTION_LIBRARY. The program makes a folder, starts itself with
// the library preloaded to change everything in it, and looks at what is left.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
int failures = 0;

void check(bool right, const std::string& what) {
  if (right) return;
  std::cerr << "failed: " << what << "\n";
  ++failures;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// --- under the library ---

void streams(const fs::path& folder) {
  std::ofstream(folder / "stream") << "new";
  check(content(folder / "stream") == "new", "ofstream");
  std::ofstream(folder / "appended", std::ios::app) << "+";
  check(content(folder / "appended") == "old+", "ofstream, appending");
  std::fstream(folder / "updated", std::ios::in | std::ios::out) << "N";
  check(content(folder / "updated") == "Nld", "fstream, updating");
  std::FILE* file = std::fopen((folder / "c").c_str(), "w");
  std::fputs("new", file);
  std::fclose(file);
  check(content(folder / "c") == "new", "fopen");
}

void mapped(const fs::path& folder) {
  const int file = open((folder / "mapped").c_str(), O_RDWR);
  auto* bytes = static_cast<char*>(mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  close(file);
  bytes[0] = 'N';
  munmap(bytes, 3);
  check(content(folder / "mapped") == "Nld", "mmap");
}

void file_system(const fs::path& folder) {
  check(fs::remove(folder / "removed") && !fs::exists(folder / "removed"), "remove");
  write(folder / "made", "new");
  fs::rename(folder / "made", folder / "renamed");
  check(content(folder / "renamed") == "new" && !fs::exists(folder / "made"), "rename");
  check(fs::remove_all(folder / "tree") == 4 && !fs::exists(folder / "tree"), "remove_all");
  write(folder / "stream", "new");
  fs::copy_file(folder / "stream", folder / "copied", fs::copy_options::overwrite_existing);
  check(content(folder / "copied") == "new", "copy_file");
  fs::resize_file(folder / "resized", 1);
  check(fs::file_size(folder / "resized") == 1, "resize_file");
  fs::permissions(folder / "mode", fs::perms::owner_read);
  const auto listed = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  check(listed == 11, "directory_iterator: " + std::to_string(listed));
  check(fs::canonical(folder / "link") == folder / "stream", "canonical");
}

void temporary_files(const fs::path& folder) {
  std::string name = (folder / "temporary_XXXXXX").string();
  const int file = mkostemp(name.data(), O_CLOEXEC);
  check(file >= 0 && ::write(file, "new", 3) == 3 && close(file) == 0, "mkostemp");
  check(rename(name.c_str(), (folder / "replaced").c_str()) == 0 && content(folder / "replaced") == "new", "replaced");
}

void child(const fs::path& folder, int number) {
  std::ofstream(folder / ("child" + std::to_string(number % 2)), std::ios::app) << "x";
  _exit(0);
}

/// Forks while other threads are inside the library: neither side may hang.
void threads(const fs::path& folder) {
  std::vector<std::thread> running;
  for (int number = 0; number < 4; ++number)
    running.emplace_back([&folder, number] {
      for (int i = 0; i < 25; ++i) {
        std::ofstream(folder / "together", std::ios::app) << "x";
        const pid_t process = fork();
        if (process == 0) child(folder, number);
        waitpid(process, nullptr, 0);
      }
    });
  for (auto& thread : running) thread.join();
  check(content(folder / "together").size() == 103, "four threads append");
  check(content(folder / "child0").size() == 53 && content(folder / "child1").size() == 53, "100 children append");
}

int script(const fs::path& folder) {
  alarm(60);
  streams(folder);
  mapped(folder);
  file_system(folder / "fs");
  temporary_files(folder);
  threads(folder);
  return failures == 0 ? 0 : 1;
}

// --- around it ---

std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status;
    lstat(entry.path().c_str(), &status);
    const auto changed = fs::is_directory(entry.path()) ? 0 : status.st_mtim.tv_nsec;
    found[entry.path().string()] = (fs::is_regular_file(entry.path()) ? content(entry.path()) : "") + " " +
                                   std::to_string(status.st_mode) + " " + std::to_string(changed);
  }
  return found;
}

void prepare(const fs::path& folder) {
  for (const char* name :
       {"stream",  "appended",  "updated",    "c",          "mapped",    "replaced",    "together",  "child0",
        "child1",  "fs/stream", "fs/removed", "fs/renamed", "fs/tree/a", "fs/tree/b/c", "fs/copied", "fs/resized",
        "fs/mode", "fs/1",      "fs/2",       "fs/3",       "fs/4",      "fs/5"})
    write(folder / name, "old");
  fs::create_symlink("stream", folder / "fs/link");
}

int run_script(const char* program, const char* library, const fs::path& folder, const fs::path& run) {
  setenv("LD_PRELOAD", library, 1);
  setenv("ULLAGE_FILES_DIR", (run / "files").c_str(), 1);
  setenv("ULLAGE_FILES_THROUGH", ("/dev:/proc:/sys:" + run.string()).c_str(), 1);
  const pid_t process = fork();
  if (process == 0) {
    execl(program, program, "--script", folder.c_str(), nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(process, &status, 0);
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string(arguments[1]) == "--script") return script(arguments[2]);
  if (count != 2) return 2;
  const fs::path base = fs::canonical(fs::temp_directory_path()) / ("ullage_files_" + std::to_string(getpid()));
  const fs::path folder = base / "work", run = base / "run";
  prepare(folder);
  fs::create_directories(run);
  const auto before = tree(folder);
  check(run_script(arguments[0], arguments[1], folder, run) == 0, "the script");
  for (const auto& [path, state] : tree(folder)) check(before.contains(path) && before.at(path) == state, path);
  check(tree(folder).size() == before.size(), "nothing is gone");
  fs::remove_all(base);
  std::cout << (failures == 0 ? "files: in order\n" : "files: failed\n");
  return failures == 0 ? 0 : 1;
}
