// SPDX-License-Identifier: Apache-2.0
#include "findings/owner.hpp"

#include <algorithm>
#include <span>

namespace ullage::findings {
namespace {

using ledger::Level;
using ledger::Line;

bool owns(const Line& line) {
  return line.id != "cached" && line.id != "rounding";
}

const Line* largest(const std::vector<Line>& lines) {
  const Line* best = nullptr;
  for (const Line& line : lines) {
    if (owns(line) && (best == nullptr || line.bytes > best->bytes)) best = &line;
  }
  return best;
}

// A name in brackets says that something is not known.
bool named(const Line& line) {
  return !line.name.starts_with('[') && line.name != "other";
}

Line category(const ledger::Cut& cut, const std::string& id, std::span<const Level> levels) {
  const Line chart = ledger::chart(cut, levels);
  const Line* found = ledger::find(chart, id);
  return found != nullptr ? *found : Line{};
}

void find_part(const Line& line, Owner& owner) {
  const Line* part = largest(line.children);
  if (part == nullptr || !named(*part)) return;
  owner.part = part->name, owner.part_bytes = part->bytes;
  const Line* inner = largest(part->children);
  if (inner == nullptr || !named(*inner)) return;
  owner.part += ", " + inner->name, owner.part_bytes = inner->bytes;
}

}  // namespace

Owner largest_owner(const ledger::Cut& cut) {
  constexpr Level by_place[] = {Level::layer, Level::operation};
  constexpr Level by_line[] = {Level::line};
  const Line chart = ledger::chart(cut, by_place);
  Owner owner;
  const Line* whole = ledger::pytorch_line(chart);
  const Line* best = whole != nullptr ? largest(whole->children) : nullptr;
  if (best == nullptr) return owner;
  owner.id = best->id, owner.name = best->name, owner.bytes = best->bytes;
  for (const Line& line : whole->children) owner.allocated += line.id != "cached" ? line.bytes : 0;
  find_part(*best, owner);
  if (owner.part.empty()) find_part(category(cut, best->id, by_line), owner);
  return owner;
}

}  // namespace ullage::findings
