// SPDX-License-Identifier: Apache-2.0
// Writes device.ulog for tests.
#pragma once

#include <cstring>
#include <string>

#include "base/ulog.hpp"

namespace ullage::test {

class LogWriter {
 public:
  LogWriter() {
    ulog::FileHeader header{};
    std::memcpy(header.magic, ulog::magic, sizeof header.magic);
    header.version = ulog::version;
    header.pid = 42;
    text.append(reinterpret_cast<const char*>(&header), sizeof header);
  }
  template <class T>
  LogWriter& add(ulog::RecordType type, const T& payload, std::uint16_t flags = 0) {
    return raw(type, std::string(reinterpret_cast<const char*>(&payload), sizeof payload), flags);
  }
  LogWriter& name(std::uint32_t id, std::string value) {
    const ulog::Name name{id, 3, static_cast<std::uint16_t>(value.size())};
    value.resize((value.size() + 7) / 8 * 8);
    return raw(ulog::RecordType::name, std::string(reinterpret_cast<const char*>(&name), sizeof name) + value, 0);
  }
  LogWriter& raw(ulog::RecordType type, const std::string& payload, std::uint16_t flags) {
    const ulog::RecordHeader header{static_cast<std::uint16_t>(type), flags, static_cast<std::uint32_t>(payload.size()),
                                    0};
    text.append(reinterpret_cast<const char*>(&header), sizeof header).append(payload);
    return *this;
  }
  std::string text;
};

}  // namespace ullage::test
