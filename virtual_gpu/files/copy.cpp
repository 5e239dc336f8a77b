// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/files/copy.hpp"

#include "virtual_gpu/files/marks.hpp"
#include "virtual_gpu/files/system.hpp"

#include <linux/fs.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>

namespace ullage::files {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 20;

bool write_all(int out, const char* bytes, std::size_t size, off_t offset) {
  while (size > 0) {
    const auto done = ::syscall(SYS_pwrite64, out, bytes, size, offset);
    if (done <= 0) return false;
    bytes += done, size -= static_cast<std::size_t>(done), offset += done;
  }
  return true;
}

/// Where the kernel cannot copy from one file system to another.
bool copy_by_hand(int in, int out, off_t begin, off_t end) {
  const auto buffer = std::make_unique<char[]>(chunk);
  while (begin < end) {
    const auto wanted = std::min<std::size_t>(chunk, static_cast<std::size_t>(end - begin));
    const auto got = ::syscall(SYS_pread64, in, buffer.get(), wanted, begin);
    if (got < 0) return false;
    if (got == 0) return true;
    if (!write_all(out, buffer.get(), static_cast<std::size_t>(got), begin)) return false;
    begin += got;
  }
  return true;
}

bool copy_range(int in, int out, off_t begin, off_t end) {
  off_t from = begin, to = begin;
  while (from < end) {
    const auto done = ::syscall(SYS_copy_file_range, in, &from, out, &to, static_cast<std::size_t>(end - from), 0);
    if (done == 0) return copy_by_hand(in, out, from, end);  // some file systems say so of what they cannot copy
    if (done < 0) return errno != ENOSPC && errno != EDQUOT && copy_by_hand(in, out, from, end);
  }
  return true;
}

off_t seek(int fd, off_t offset, int whence) {
  return ::syscall(SYS_lseek, fd, offset, whence);
}

bool copy_data(int in, int out, off_t size) {
  if (::syscall(SYS_ioctl, out, FICLONE, in) == 0) return true;
  for (off_t at = 0; at < size;) {
    off_t data = seek(in, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // a hole to the end
    if (data < 0) data = at;
    off_t hole = seek(in, data, SEEK_HOLE);
    if (hole <= data) hole = size;
    if (!copy_range(in, out, data, hole)) return false;
    at = hole;
  }
  return ::syscall(SYS_ftruncate, out, size) == 0;
}

bool copy_status(int out, const struct stat& status) {
  const struct timespec times[2] = {status.st_atim, status.st_mtim};
  ::syscall(SYS_utimensat, out, nullptr, times, 0);
  return ::syscall(SYS_fchmod, out, status.st_mode & 07777) == 0;
}

bool copy_opened(int in, int out) {
  struct stat status;
  if (::syscall(SYS_newfstatat, in, "", &status, AT_EMPTY_PATH) != 0) return false;
  return copy_data(in, out, status.st_size) && copy_status(out, status);
}

/// The mode of a file that may not be read: enough where its contents are not wanted.
int make_like(const std::string& from, const std::string& to) {
  struct stat status;
  if (sys::status(from, &status) != 0) return errno;
  const sys::Descriptor out(sys::open(to, O_WRONLY | O_CREAT | O_EXCL, 0600));
  if (!out.open()) return errno;
  return copy_status(out.get(), status) ? 0 : errno;
}

int copy_link(const std::string& from, const std::string& to) {
  char target[PATH_MAX];
  const auto size = sys::read_link(from.c_str(), target, sizeof target);
  if (size < 0) return errno;
  return sys::symlink(std::string(target, static_cast<std::size_t>(size)), to) == 0 ? 0 : errno;
}

bool is_link(const std::string& path) {
  struct stat status;
  return sys::status(path, &status) == 0 && S_ISLNK(status.st_mode);
}

bool same_device(std::string_view left, std::string_view right) {
  struct stat a, b;
  return sys::status(std::string(left), &a) == 0 && sys::status(std::string(right), &b) == 0 && a.st_dev == b.st_dev;
}

}  // namespace

int copy_file(const std::string& from, const std::string& to, bool contents) {
  if (!contents) return make_like(from, to);
  const sys::Descriptor in(sys::open(from, O_RDONLY));
  if (!in.open()) return errno;
  const sys::Descriptor out(sys::open(to, O_RDWR | O_CREAT | O_EXCL, 0600));
  if (!out.open()) return errno;
  if (copy_opened(in.get(), out.get())) return 0;
  const int error = errno;
  sys::remove_file(to);
  return error;
}

int copy_over(const std::string& from, const std::string& to, const std::string& making) {
  // Beside the destination when that is on another file system than the run directory.
  const std::string first =
      same_device(parent_of(making), parent_of(to)) ? making : to + ".ullage" + making.substr(making.rfind('/') + 1);
  if (const int error = is_link(from) ? copy_link(from, first) : copy_file(from, first)) return error;
  if (sys::rename(first, to) == 0) return 0;
  const int error = errno;
  sys::remove_file(first);
  return error;
}

int move_over(const std::string& from, const std::string& to, const std::string& making) {
  if (sys::rename(from, to) == 0) return 0;
  if (errno != EXDEV) return errno;
  if (const int error = copy_over(from, to, making)) return error;
  return sys::remove_file(from) == 0 ? 0 : errno;
}

int make_parents(const std::string& path) {
  const std::string parent(parent_of(path));
  if (sys::make_folder(parent) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || parent == "/") return errno;
  if (const int error = make_parents(parent)) return error;
  return sys::make_folder(parent) == 0 || errno == EEXIST ? 0 : errno;
}

}  // namespace ullage::files
