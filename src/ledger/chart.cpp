// SPDX-License-Identifier: Apache-2.0
#include "ledger/chart.hpp"

#include <algorithm>

#include <utility>

namespace ullage::ledger {

const char* name_of(KnownBy known_by) {
  switch (known_by) {
    case KnownBy::measured:
      return "measured";
    case KnownBy::executed:
      return "executed";
    case KnownBy::derived:
      return "derived";
    case KnownBy::estimated:
      return "estimated";
    case KnownBy::assumed:
      return "assumed";
  }
  return "";
}

Line sum_line(std::string id, std::string name, KnownBy known_by, std::vector<Line> children) {
  Line line{std::move(id), std::move(name), 0, known_by, AttributedBy::nothing, std::move(children), 0};
  for (const Line& child : line.children) line.bytes += child.bytes;
  return line;
}

namespace {

void check_into(const Line& line, std::vector<std::string>& out) {
  if (line.children.empty()) return;
  std::uint64_t sum = 0;
  bool overflow = false;
  for (const Line& child : line.children) {
    overflow |= __builtin_add_overflow(sum, child.bytes, &sum);
    check_into(child, out);
  }
  if (overflow || sum != line.bytes) {
    out.push_back(line.id + ": the children have " + std::to_string(sum) + " bytes, the line " +
                  std::to_string(line.bytes));
  }
}

}  // namespace

std::vector<std::string> check(const Line& line) {
  std::vector<std::string> result;
  check_into(line, result);
  return result;
}

bool is_named(const Line& line) {
  return !line.id.empty() && !line.name.empty() && std::ranges::all_of(line.children, is_named);
}

const Line* find(const Line& line, const std::string& id) {
  if (line.id == id) return &line;
  for (const Line& child : line.children) {
    if (const Line* found = find(child, id)) return found;
  }
  return nullptr;
}

}  // namespace ullage::ledger
