// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/result_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> not_written(const std::string& path, int error) {
  return fail(ErrorKind::io, std::string("cannot write the result: ") + std::strerror(error),
              path == "-" ? "stdout" : path, {}, error == ENOSPC ? "another place with --out" : "");
}

// Behind a link the file itself is replaced, not the link.
std::string target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) ? fs::canonical(path, error) : fs::path(path);
  return error || target.empty() ? path : target.string();
}

}  // namespace

Result<ResultFile> ResultFile::open(const std::string& path, bool replace) {
  if (path == "-") return ResultFile(stdout, {}, path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return fail(ErrorKind::usage, "this is a folder", path, "the name of a file for --out");
  if (fs::is_regular_file(status) && !replace)
    return fail(ErrorKind::usage, "the file is already there", path, "a new name for --out", "--force replaces it");
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  const std::string target = target_of(path);
  const std::string partial = direct ? "" : target + "." + std::to_string(getpid()) + ".partial";
  const int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_EXCL);
  const int descriptor = ::open(direct ? path.c_str() : partial.c_str(), flags, 0666);
  std::FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "wb");
  if (file == nullptr) return not_written(path, errno);
  return ResultFile(file, partial, target);
}

ResultFile::ResultFile(ResultFile&& other) noexcept
    : file_(std::exchange(other.file_, nullptr)),
      partial_(std::exchange(other.partial_, {})),
      path_(std::move(other.path_)),
      error_(other.error_) {}

ResultFile::~ResultFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (!partial_.empty()) unlink(partial_.c_str());
}

void ResultFile::write(std::string_view text) {
  if (error_ != 0 || std::fwrite(text.data(), 1, text.size(), file_) == text.size()) return;
  error_ = errno != 0 ? errno : EIO;
}

Result<void> ResultFile::keep() {
  std::FILE* file = std::exchange(file_, nullptr);
  const bool flushed = std::fflush(file) == 0;
  if (!flushed && error_ == 0) error_ = errno;
  if (file != stdout && std::fclose(file) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0 && !partial_.empty() && std::rename(partial_.c_str(), path_.c_str()) != 0) error_ = errno;
  if (error_ != 0) return not_written(path_, error_);
  partial_.clear();
  return {};
}

}  // namespace ullage::cli
