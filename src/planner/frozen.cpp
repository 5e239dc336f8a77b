// SPDX-License-Identifier: Apache-2.0
#include "planner/frozen.hpp"

#include <set>

namespace ullage::planner {
namespace {

/// The names of all parameters with the storage that each stands for.
struct Name {
  std::string name, owner;
};

std::vector<Name> names_of(const model::Model& model) {
  std::vector<Name> names;
  model::for_each_parameter(model, [&](const auto& group, std::uint64_t index, const auto& parameter) {
    std::string name = model::full_name(group, parameter, std::to_string(index));
    std::string owner = parameter.tied_to.empty() ? name : parameter.tied_to;
    names.push_back({std::move(name), std::move(owner)});
  });
  return names;
}

tl::unexpected<Error> matches_nothing(const std::string& pattern, const std::vector<Name>& names) {
  const std::string example = names.size() > 1 ? names[names.size() / 2].name : "";
  return fail(ErrorKind::usage, "no parameter has such a name", "--freeze " + pattern,
              "a name as transformers gives it; * stands for anything",
              example.empty() ? "" : "for example " + example);
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, star = std::string_view::npos, resume = 0, i = 0;
  while (i < text.size()) {
    if (at < pattern.size() && (pattern[at] == '?' || (pattern[at] != '*' && pattern[at] == text[i]))) {
      ++at, ++i;
    } else if (at < pattern.size() && pattern[at] == '*') {
      star = at++, resume = i;
    } else if (star != std::string_view::npos) {
      at = star + 1, i = ++resume;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

Result<std::vector<bool>> frozen_parameters(const model::Model& model, const std::vector<std::string>& patterns) {
  const std::vector<Name> names = patterns.empty() ? std::vector<Name>{} : names_of(model);
  std::set<std::string> frozen;
  for (const std::string& pattern : patterns) {
    bool any = false;
    for (const Name& name : names)
      if (matches(pattern, name.name)) frozen.insert(name.owner), any = true;
    if (!any) return matches_nothing(pattern, names);
  }
  std::vector<bool> result;
  for (const Name& name : names) result.push_back(frozen.contains(name.owner));
  return result;
}

}  // namespace ullage::planner
