// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/levels.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace ullage::cli {

using ledger::Level;

Result<std::vector<Level>> levels_of(const std::string& text) {
  constexpr Level all[] = {Level::category,  Level::kind, Level::module, Level::layer,
                           Level::operation, Level::line, Level::tensor, Level::block};
  std::vector<Level> levels;
  std::vector<std::string_view> names;
  for (const Level level : all) names.emplace_back(name_of(level));
  for (const std::string& word : split(text, ',')) {
    const auto found = std::ranges::find(names, word);
    if (found == names.end())
      return fail(ErrorKind::usage, "unknown level '" + word + "'", "--by",
                  "some of category, kind, module, layer, operator, line, tensor, block, with commas",
                  suggestion(word, names));
    levels.push_back(all[found - names.begin()]);
  }
  return levels;
}

}  // namespace ullage::cli
