// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ullage::ingest {

namespace {

tl::unexpected<Error> failure(const std::string& path, const char* what) {
  return fail(ErrorKind::io, std::string(what) + ": " + std::strerror(errno), path);
}

Result<std::span<const std::byte>> map(int descriptor, const std::string& path) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return failure(path, "cannot look at the file");
  if (!S_ISREG(status.st_mode))
    return fail(ErrorKind::io, "this is not a regular file", path, "a file to read",
                S_ISDIR(status.st_mode) ? "this is a folder: name a file in it" : "copy it into a file first");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::span<const std::byte>{};
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return failure(path, "cannot map the file");
  madvise(memory, size, MADV_SEQUENTIAL);
  return std::span(static_cast<const std::byte*>(memory), size);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return failure(path, "cannot open the file");
  const auto bytes = map(descriptor, path);
  ::close(descriptor);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  return MappedFile(*bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace ullage::ingest
