// SPDX-License-Identifier: Apache-2.0
#include "model/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace ullage::model {

Result<std::string> read_config_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return fail(ErrorKind::io, std::string("cannot be read: ") + std::strerror(errno), path);
  std::string text;
  char piece[16384];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, file.get())) {
    text.append(piece, count);
    if (text.size() > most_config_bytes)
      return fail(ErrorKind::bad_input, "too large for a model's configuration", path, "at most 4 MiB");
  }
  if (std::ferror(file.get()) != 0)
    return fail(ErrorKind::io, std::string("cannot be read: ") + std::strerror(errno), path);
  return text;
}

}  // namespace ullage::model
