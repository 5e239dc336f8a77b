// SPDX-License-Identifier: Apache-2.0
// The kernel's calls themselves: this library stands in front of libc's functions and must not run into itself.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

namespace ullage::files::sys {

inline int open(const std::string& path, int flags, mode_t mode = 0) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags | O_CLOEXEC, mode));
}

inline int close(int fd) {
  return static_cast<int>(::syscall(SYS_close, fd));
}

inline int status(const std::string& path, struct stat* status) {
  return static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path.c_str(), status, AT_SYMLINK_NOFOLLOW));
}

inline ssize_t read_link(const char* path, char* text, std::size_t size) {
  return ::syscall(SYS_readlinkat, AT_FDCWD, path, text, size);
}

inline int make_folder(const std::string& path, mode_t mode = 0777) {
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path.c_str(), mode));
}

inline int remove_file(const std::string& path) {
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), 0));
}

inline int remove_folder(const std::string& path) {
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path.c_str(), AT_REMOVEDIR));
}

inline int rename(const std::string& from, const std::string& to) {
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0));
}

inline int link(const std::string& from, const std::string& to) {
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0));
}

inline int symlink(const std::string& target, const std::string& path) {
  return static_cast<int>(::syscall(SYS_symlinkat, target.c_str(), AT_FDCWD, path.c_str()));
}

/// With the real user's rights, as a program that is not setuid has them.
inline int access(const std::string& path, int wanted) {
  return static_cast<int>(::syscall(SYS_faccessat, AT_FDCWD, path.c_str(), wanted));
}

/// Closes at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace ullage::files::sys
