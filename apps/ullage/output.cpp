// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/output.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace ullage::cli {

Result<void> print_result(std::string_view result) {
  const std::string text = printable(result, true);  // names in it come from other people's files
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return fail(ErrorKind::io, "the result could not be written", "stdout", {}, std::strerror(errno));
  }
  return {};
}

void print_error(const Error& error) {
  std::string text = "ullage: " + error.what;
  if (!error.where.empty()) text += ": " + error.where;
  text += "\n";
  if (!error.expected.empty()) text += "  expected: " + error.expected + "\n";
  if (!error.hint.empty()) text += "  hint: " + error.hint + "\n";
  text = printable(text, true);  // a word of the command line or of a file may be in it
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace ullage::cli
