// SPDX-License-Identifier: Apache-2.0
// A whole file, mapped for reading.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.hpp"

namespace ullage::ingest {

/// The bytes of a regular file for as long as the object lives. A file that another process cuts short meanwhile is
/// outside the contract.
class MappedFile {
 public:
  /// Errors: `io` when the file cannot be opened or mapped, or is not a regular file.
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace ullage::ingest
