// SPDX-License-Identifier: Apache-2.0
#include "launch/stream_copy.hpp"

#include <fcntl.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ullage {
namespace {

// Waits until a descriptor that somebody made non-blocking takes bytes again.
void wait_for_room(int fd) {
  pollfd waiting{fd, POLLOUT, 0};
  poll(&waiting, 1, 1000);
}

}  // namespace

Sink Sink::file(const std::string& path, std::vector<std::string>& problems) {
  Sink sink;
  if (path.empty()) return sink;
  sink.name_ = path;
  sink.owned_ = Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  sink.fd_ = sink.owned_.get();
  if (sink.fd_ < 0) sink.give_up(errno, problems);
  return sink;
}

Sink Sink::borrowed(int fd) {
  Sink sink;
  sink.fd_ = fd;
  sink.name_ = "the live copy";
  return sink;
}

void Sink::write(std::string_view bytes, std::vector<std::string>& problems) {
  while (fd_ >= 0 && !bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done >= 0) {
      written_ += static_cast<std::uint64_t>(done);
      bytes.remove_prefix(static_cast<std::size_t>(done));
    } else if (errno == EAGAIN) {
      wait_for_room(fd_);
    } else if (errno != EINTR) {
      give_up(errno, problems);
    }
  }
}

void Sink::give_up(int error, std::vector<std::string>& problems) {
  problems.push_back(name_ + ": writing stopped after " + std::to_string(written_) + " bytes: " + std::strerror(error));
  fd_ = -1;
}

void StreamCopy::copy_available(std::vector<std::string>& problems, std::size_t limit) {
  std::array<char, 65536> buffer;
  for (std::size_t copied = 0; source_.open() && copied < limit;) {
    const ssize_t got = read(source_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return source_.close();
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    log_.write(bytes, problems);
    live_.write(bytes, problems);
    copied += bytes.size();
  }
}

}  // namespace ullage
