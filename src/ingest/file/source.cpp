// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ullage::ingest {

namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

bool begins_with(std::span<const std::byte> bytes, std::initializer_list<int> magic) {
  if (bytes.size() < magic.size()) return false;
  return std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](int want, std::byte have) { return static_cast<std::byte>(want) == have; });
}

Result<std::vector<std::byte>> read_all(int descriptor, const std::string& name) {
  std::vector<std::byte> all;
  for (;;) {
    const std::size_t used = all.size();
    all.resize(used + chunk_bytes);
    const ssize_t got = ::read(descriptor, all.data() + used, chunk_bytes);
    if (got < 0 && errno != EINTR)
      return fail(ErrorKind::io, std::string("cannot read: ") + std::strerror(errno), name);
    all.resize(used + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return all;
  }
}

/// A pipe with that name, opened; -1 for anything else.
int open_pipe(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return -1;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) fcntl(descriptor, F_SETFL, 0);
  return descriptor;
}

}  // namespace

Result<Source> Source::holding(Result<std::vector<std::byte>> bytes, const std::string& name) {
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  Source source;
  source.name_ = name;
  source.held_ = std::move(*bytes);
  source.start(source.held_);
  return source;
}

Result<Source> Source::open_once(const std::string& path) {
  const int descriptor = open_pipe(path);
  if (descriptor < 0) return open(path);
  auto bytes = read_all(descriptor, path);
  ::close(descriptor);
  return holding(std::move(bytes), path);
}

Result<Source> Source::open(const std::string& path) {
  if (path == "-") return holding(read_all(STDIN_FILENO, path), path);
  Source source;
  source.name_ = path;
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  source.start(file->bytes());
  source.file_ = std::move(*file);
  return source;
}

Source Source::of(std::span<const std::byte> bytes, std::string name) {
  Source source;
  source.name_ = std::move(name);
  source.start(bytes);
  return source;
}

void Source::start(std::span<const std::byte> raw) {
  raw_ = raw;
  raw_size_ = raw.size();
  if (begins_with(raw, {0x1f, 0x8b})) decoder_ = gzip_decoder();
  if (begins_with(raw, {0x28, 0xb5, 0x2f, 0xfd})) decoder_ = zstd_decoder();
}

void Source::note_damage() {
  const std::string what = decoder_->failed() ? "the compressed data are damaged" : "the compressed data end too early";
  damage_ = Error{ErrorKind::bad_input,
                  what,
                  name_ + ", byte " + std::to_string(raw_size_ - raw_.size()),
                  {},
                  "the file may have been cut short while it was written or copied"};
}

std::size_t Source::decode(std::span<std::byte> out) {
  if (!decoder_) {
    const std::size_t count = std::min(out.size(), raw_.size());
    std::copy_n(raw_.begin(), count, out.begin());
    raw_ = raw_.subspan(count);
    return count;
  }
  std::size_t given = 0;
  while (given < out.size() && !damage_) {
    const std::size_t before = raw_.size();
    const std::size_t count = decoder_->decode(raw_, out.subspan(given));
    given += count;
    if (decoder_->failed() || (count == 0 && raw_.empty() && !decoder_->complete())) note_damage();
    if (count == 0 && (raw_.empty() || raw_.size() == before)) break;
  }
  return given;
}

std::size_t Source::read(std::span<std::byte> out) {
  const std::size_t waiting = std::min(out.size(), ahead_.size() - ahead_used_);
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_used_), waiting, out.begin());
  ahead_used_ += waiting;
  return waiting + decode(out.subspan(waiting));
}

std::string_view Source::head(std::size_t wanted) {
  if (ahead_.size() - ahead_used_ < wanted) {
    ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_used_));
    ahead_used_ = 0;
    const std::size_t have = ahead_.size();
    ahead_.resize(wanted);
    ahead_.resize(have + decode(std::span(ahead_).subspan(have)));
  }
  const auto* text = reinterpret_cast<const char*>(ahead_.data() + ahead_used_);
  return {text, std::min(wanted, ahead_.size() - ahead_used_)};
}

std::span<const std::byte> Source::rest() {
  if (!decoder_) {  // what head() copied stands right in front
    const std::size_t waiting = ahead_.size() - ahead_used_;
    return {raw_.data() - waiting, raw_.size() + waiting};
  }
  for (;;) {
    const std::size_t used = whole_.size();
    whole_.resize(used + std::max(chunk_bytes, used / 2));
    whole_.resize(used + read(std::span(whole_).subspan(used)));
    if (whole_.size() == used) return whole_;
  }
}

}  // namespace ullage::ingest
