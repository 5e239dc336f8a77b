// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/run_json.hpp"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace ullage::cli {

Result<void> write_run_json(const std::string& directory, const std::string& text) {
  const std::string path = directory + "/run.json", partial = path + "." + std::to_string(getpid()) + ".partial";
  errno = 0;
  std::ofstream file(partial, std::ios::binary);
  file << text;
  file.close();
  std::error_code error(errno, std::generic_category());
  if (file) std::filesystem::rename(partial, path, error);
  if (!file || error) return fail(ErrorKind::io, "cannot write the result: " + error.message(), path);
  return {};
}

}  // namespace ullage::cli
