// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/event_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ullage::vgpu {
namespace {

constexpr std::size_t flush_bytes = 1 << 16;
constexpr std::size_t pending_limit = 16 << 20;  // records kept before the file is opened

bool write_all(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(file, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace

EventLog::~EventLog() {
  flush();
  if (file_ >= 0) close(file_);
}

bool EventLog::open(const std::string& path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) {
    disable();
    return false;
  }
  ulog::FileHeader header{};
  std::memcpy(header.magic, ulog::magic, sizeof(header.magic));
  header.version = ulog::version;
  header.pid = static_cast<std::uint32_t>(getpid());
  if (!write_all(file_, reinterpret_cast<const char*>(&header), sizeof(header))) disable();
  return enabled();
}

void EventLog::disable() {
  disabled_ = true;
  buffer_.clear();
  buffer_.shrink_to_fit();
}

void EventLog::forget() {
  disable();
  if (file_ >= 0) close(file_);
  file_ = -1;
}

void EventLog::append(ulog::RecordType type, std::uint16_t flags, std::uint64_t time_ns, const void* payload,
                      std::size_t bytes) {
  if (disabled_ || (file_ < 0 && buffer_.size() > pending_limit)) {
    ++dropped_;
    return;
  }
  const ulog::RecordHeader header{static_cast<std::uint16_t>(type), flags, static_cast<std::uint32_t>(bytes), time_ns};
  const auto* head = reinterpret_cast<const char*>(&header);
  const auto* body = static_cast<const char*>(payload);
  buffer_.insert(buffer_.end(), head, head + sizeof(header));
  buffer_.insert(buffer_.end(), body, body + bytes);
  if (file_ >= 0 && buffer_.size() >= flush_bytes) flush();
}

void EventLog::flush() {
  if (file_ < 0 || disabled_ || buffer_.empty()) return;
  if (!write_all(file_, buffer_.data(), buffer_.size())) disable();
  buffer_.clear();
}

std::uint32_t EventLog::name(NameKind kind, std::string_view text) {
  if (text.empty()) return 0;
  text = text.substr(0, 4000);
  const auto key = std::make_pair(static_cast<std::uint16_t>(kind), std::string(text));
  auto [it, inserted] = names_.try_emplace(key, next_name_);
  if (!inserted) return it->second;
  ++next_name_;
  const ulog::Name header{it->second, key.first, static_cast<std::uint16_t>(text.size())};
  std::vector<char> payload((sizeof(header) + text.size() + 7) / 8 * 8, 0);
  std::memcpy(payload.data(), &header, sizeof(header));
  std::memcpy(payload.data() + sizeof(header), text.data(), text.size());
  append(ulog::RecordType::name, 0, 0, payload.data(), payload.size());
  return it->second;
}

std::uint32_t EventLog::static_name(NameKind kind, const char* text) {
  auto [it, inserted] = static_names_.try_emplace(text, 0);
  if (inserted) it->second = name(kind, text);
  return it->second;
}

}  // namespace ullage::vgpu
