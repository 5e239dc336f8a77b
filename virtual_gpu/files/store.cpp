// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/files/store.hpp"

#include "virtual_gpu/files/system.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace ullage::files {
namespace {

/// In the file `state`, mapped by every process. Zero at first.
struct Shared {
  std::atomic<std::uint64_t> journal_bytes;
  std::atomic<std::uint64_t> changes;  ///< records other than of created files
};

enum class Activity { unknown, no, yes };

// All of this works before constructors have run and after destructors have: nothing here has either.
constinit std::atomic<Activity> activity{Activity::unknown};
constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
constinit pthread_mutex_t start_mutex = PTHREAD_MUTEX_INITIALIZER;
constinit std::atomic<std::uint64_t> temporaries{0};
constinit Shared* shared = nullptr;
constinit Marks* marks_of_process = nullptr;
constinit std::uint64_t journal_read = 0;
char folder[4096];
char through_list[32768];
// Preloaded, so that the storage is there from the start of every thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool inside = false;

[[noreturn]] void give_up(const char* what) {
  // Going on would mean to let a script overwrite what it must not.
  const std::string text =
      std::string("ullage: the files cannot be protected: ") + what + ": " + strerror(errno) + "\n";
  [[maybe_unused]] const auto written = ::write(2, text.data(), text.size());
  ::syscall(SYS_exit_group, 70);
  __builtin_unreachable();
}

Shared* mapped() {
  sys::make_folder(folder);
  const sys::Descriptor file(sys::open(std::string(folder) + "/state", O_RDWR | O_CREAT, 0666));
  if (!file.open() || ::ftruncate(file.get(), 4096) != 0) give_up(folder);
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) give_up(folder);
  return static_cast<Shared*>(memory);
}

/// Takes a variable over; false when it is not set or too long.
bool take(const char* name, char* place, std::size_t size) {
  const char* value = std::getenv(name);
  if (value == nullptr || value[0] == '\0' || std::strlen(value) >= size) return false;
  std::strcpy(place, value);
  return true;
}

void before_fork() {
  pthread_mutex_lock(&mutex);
}

void after_fork() {
  pthread_mutex_unlock(&mutex);
}

Activity start() {
  if (!take("ULLAGE_FILES_DIR", folder, sizeof folder)) return Activity::no;
  take("ULLAGE_FILES_THROUGH", through_list, sizeof through_list);
  shared = mapped();
  pthread_atfork(before_fork, after_fork, after_fork);
  return Activity::yes;
}

Activity started() {
  const int error = errno;
  inside = true;
  pthread_mutex_lock(&start_mutex);
  if (activity.load() == Activity::unknown) activity = start();
  pthread_mutex_unlock(&start_mutex);
  inside = false;
  errno = error;
  return activity;
}

std::string read_from(int fd, std::uint64_t offset, std::uint64_t size) {
  std::string text(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const auto part = ::syscall(SYS_pread64, fd, text.data() + got, size - got, offset + got);
    if (part <= 0) break;
    got += static_cast<std::size_t>(part);
  }
  text.resize(got);
  return text;
}

/// Every write is complete before the length counts it, and writes to the end come one after another: what the length
/// covers is there.
void refresh() {
  if (marks_of_process == nullptr) marks_of_process = new Marks;
  const std::uint64_t length = shared->journal_bytes.load(std::memory_order_acquire);
  if (length <= journal_read) return;
  const sys::Descriptor file(sys::open(std::string(folder) + "/journal", O_RDONLY));
  // Out of descriptors: what is not known yet is protected, like everything else.
  if (!file.open()) return;
  std::vector<FileRecord> records;
  journal_read += read_journal(read_from(file.get(), journal_read, length - journal_read), records);
  for (const auto& record : records) marks_of_process->apply(record);
}

/// A new file that is on the disk, or no longer, is what the kernel says it is.
bool changes_what_is_seen(const FileRecord& record) {
  if (record.mark == FileMark::created) return false;
  return record.mark != FileMark::none || marks_of_process->of(record.path) != FileMark::created;
}

}  // namespace

bool active() {
  if (inside) return false;
  const Activity now = activity.load(std::memory_order_acquire);
  return (now == Activity::unknown ? started() : now) == Activity::yes;
}

bool diverged() {
  return active() && shared->changes.load(std::memory_order_acquire) > 0;
}

Told told() {
  return {folder, through_list};
}

Store::Store() {
  inside = true;
  pthread_mutex_lock(&mutex);
  refresh();
}

Store::~Store() {
  const int error = errno;
  pthread_mutex_unlock(&mutex);
  inside = false;
  errno = error;
}

const Marks& Store::marks() const {
  return *marks_of_process;
}

bool Store::write(const std::vector<FileRecord>& records) {
  std::string text;
  std::uint64_t changes = 0;
  for (const auto& record : records) {
    text += journal_line(record.mark, record.path);
    changes += changes_what_is_seen(record);
  }
  // Opened anew each time: a program may close every descriptor it does not know.
  const sys::Descriptor file(sys::open(std::string(folder) + "/journal", O_WRONLY | O_APPEND | O_CREAT, 0666));
  if (!file.open()) return false;
  const auto written = ::syscall(SYS_write, file.get(), text.data(), text.size());
  if (written > 0) shared->journal_bytes.fetch_add(static_cast<std::uint64_t>(written), std::memory_order_release);
  if (written != static_cast<long>(text.size())) return false;
  shared->changes.fetch_add(changes, std::memory_order_release);
  refresh();
  return true;
}

std::string Store::temporary() {
  const std::string parent = std::string(folder) + "/making";
  sys::make_folder(parent);
  return parent + "/" + std::to_string(::syscall(SYS_getpid)) + "-" + std::to_string(temporaries.fetch_add(1));
}

std::string Store::shadow_of(const std::string& path) {
  return std::string(folder) + "/shadow" + path;
}

std::string_view Store::through() {
  return through_list;
}

}  // namespace ullage::files
