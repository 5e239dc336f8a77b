// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/output.hpp"

#include "base/text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace ullage::cli {
namespace {

/// What a person reads: a word of the command line or of a file in it must not look like another line.
std::string shown(std::string_view text) {
  constexpr std::size_t most = 4096;
  return printable(shortened(text, most), false);
}

void print_talk(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

Result<void> print_result(std::string_view result) {
  const std::string text = printable(result, true);  // names in it come from other people's files
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    return fail(ErrorKind::io, "the result could not be written", "stdout", {}, std::strerror(errno));
  }
  return {};
}

void print_error(const Error& error) {
  std::string text = "ullage: " + shown(error.what);
  if (!error.where.empty()) text += ": " + shown(error.where);
  text += "\n";
  if (!error.expected.empty()) text += "  expected: " + shown(error.expected) + "\n";
  if (!error.hint.empty()) text += "  hint: " + shown(error.hint) + "\n";
  print_talk(text);
}

void print_note(std::string_view note) {
  print_talk("ullage: " + shown(note) + "\n");
}

}  // namespace ullage::cli
