// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/descriptor.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

/// Where bytes go until it fails; a failure is reported once and ends the writing, nothing else.
class Sink {
 public:
  /// A log file, made anew. An empty path is no sink.
  static Sink file(const std::string& path, std::vector<std::string>& problems);
  /// A descriptor that somebody else owns; -1 is no sink.
  static Sink borrowed(int fd);

  void write(std::string_view bytes, std::vector<std::string>& problems);

 private:
  void give_up(int error, std::vector<std::string>& problems);

  Descriptor owned_;
  int fd_ = -1;
  std::string name_;
  std::uint64_t written_ = 0;  ///< bytes
};

/// Copies one output of a command into its log and to the live copy.
class StreamCopy {
 public:
  StreamCopy(Descriptor source, Sink log, Sink live)
      : source_(std::move(source)), log_(std::move(log)), live_(std::move(live)) {}

  /// The descriptor to wait for, or -1 at the end of the output.
  [[nodiscard]] int fd() const { return source_.get(); }
  /// Copies what is there now, without waiting; at most `limit` bytes, so that a flood does not keep the caller.
  void copy_available(std::vector<std::string>& problems, std::size_t limit = 1 << 20);

 private:
  Descriptor source_;
  Sink log_;
  Sink live_;
};

}  // namespace ullage
