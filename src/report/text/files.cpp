// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "report/text/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::report {
namespace {

constexpr std::size_t most_named = 5;

std::string list_of(const std::string& title, const std::vector<std::string>& files) {
  if (files.empty()) return {};
  std::string text = title + "\n";
  const std::size_t named = std::min(files.size(), most_named);
  for (std::size_t i = 0; i < named; ++i) text += "  " + printable(files[i], false) + "\n";
  if (files.size() > named) text += fmt::format("  and {} more: 'files' in run.json names all\n", files.size() - named);
  return text;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} file{} {}", count, count == 1 ? "" : "s", what);
}

}  // namespace

std::string files_section(const RunResult& r) {
  if (!r.files.protected_by_shadow)
    return "\nFILES\nnot protected (--allow-writes): what the script wrote holds values that nothing computed\n";
  const auto& [created, overwritten, deleted, shadow] = r.files;
  const std::string text =
      list_of(counted(created.size(), "created. Weights in them are not trained: nothing was computed"), created) +
      list_of(counted(overwritten.size(), "kept as before; the script's versions are in the run directory"),
              overwritten) +
      list_of(counted(deleted.size(), "kept that the script deleted"), deleted);
  return text.empty() ? text : "\nFILES\n" + text;
}

}  // namespace ullage::report
