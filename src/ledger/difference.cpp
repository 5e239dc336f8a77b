// SPDX-License-Identifier: Apache-2.0
#include "ledger/difference.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace ullage::ledger {

namespace {

Change change_of(bool was, bool is, std::uint64_t before, std::uint64_t after) {
  if (before == after) return Change::same;
  if (!was || before == 0) return Change::added;
  if (!is || after == 0) return Change::gone;
  return after > before ? Change::grown : Change::shrunk;
}

std::uint64_t effect(const Difference& line) {
  return line.after > line.before ? line.after - line.before : line.before - line.after;
}

void sort_by_effect(std::vector<Difference>& lines) {
  std::ranges::sort(lines, [](const Difference& a, const Difference& b) {
    return std::tuple(effect(b), std::string_view(a.id)) < std::tuple(effect(a), std::string_view(b.id));
  });
}

Difference compare(const Line* before, const Line* after) {
  const Line& known = after != nullptr ? *after : *before;
  Difference result;
  result.id = known.id;
  result.name = known.name;
  result.before = before != nullptr ? before->bytes : 0;
  result.after = after != nullptr ? after->bytes : 0;
  result.change = change_of(before != nullptr, after != nullptr, result.before, result.after);
  std::map<std::string, std::pair<const Line*, const Line*>> pairs;
  if (before != nullptr) {
    for (const Line& child : before->children) pairs[child.id].first = &child;
  }
  if (after != nullptr) {
    for (const Line& child : after->children) pairs[child.id].second = &child;
  }
  for (const auto& [id, pair] : pairs) result.children.push_back(compare(pair.first, pair.second));
  // One ledger drills where the other does not: what is not drilled keeps its bytes in a line of its own.
  std::uint64_t drilled_before = 0, drilled_after = 0;
  for (const Difference& child : result.children) drilled_before += child.before, drilled_after += child.after;
  if (!result.children.empty() && (drilled_before != result.before || drilled_after != result.after)) {
    Difference rest{known.id + "/whole",          "not drilled", result.before - drilled_before,
                    result.after - drilled_after, Change::same,  {}};
    rest.change = change_of(true, true, rest.before, rest.after);
    result.children.push_back(std::move(rest));
  }
  sort_by_effect(result.children);
  return result;
}

void collect(const Difference& line, std::vector<Difference>& out) {
  if (line.children.empty() && line.change != Change::same) out.push_back(line);
  for (const Difference& child : line.children) collect(child, out);
}

}  // namespace

const char* name_of(Change change) {
  constexpr const char* names[] = {"same", "added", "grown", "shrunk", "gone"};
  return names[static_cast<std::size_t>(change)];
}

Difference difference(const Line& before, const Line& after) {
  return compare(&before, &after);
}

std::vector<Difference> changed_leaves(const Difference& root) {
  std::vector<Difference> result;
  collect(root, result);
  sort_by_effect(result);
  return result;
}

}  // namespace ullage::ledger
