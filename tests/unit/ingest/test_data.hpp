// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <span>
#include <string>
#include <string_view>

namespace ullage::test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The content of a gzip file below tests/data.
inline std::string read_gz(const std::string& name) {
  const gzFile file = gzopen((std::string(ULLAGE_TEST_DATA) + "/" + name).c_str(), "rb");
  std::string text;
  char buffer[65536];
  for (int count = 0; file != nullptr && (count = gzread(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  if (file != nullptr) gzclose(file);
  return text;
}

}  // namespace ullage::test
