// SPDX-License-Identifier: Apache-2.0
#include "base/file_journal.hpp"

namespace ullage {
namespace {

std::string unescaped(std::string_view text) {
  std::string path;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    path += escape ? (text[i + 1] == 'n' ? '\n' : text[i + 1]) : text[i];
    if (escape) ++i;
  }
  return path;
}

bool is_record(std::string_view line) {
  return line.size() > 2 && line[1] == ' ' && std::string_view("NCSD").find(line[0]) != std::string_view::npos;
}

}  // namespace

std::string journal_line(FileMark mark, std::string_view path) {
  std::string line{static_cast<char>(mark), ' '};
  for (const char c : path) {
    if (c == '\n')
      line += "\\n";
    else
      line += c == '\\' ? std::string("\\\\") : std::string(1, c);
  }
  return line + '\n';
}

std::size_t read_journal(std::string_view text, std::vector<FileRecord>& records) {
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string_view line = text.substr(begin, end - begin);
    if (is_record(line)) records.push_back({static_cast<FileMark>(line[0]), unescaped(line.substr(2))});
  }
  return begin;
}

}  // namespace ullage
