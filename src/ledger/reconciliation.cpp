// SPDX-License-Identifier: Apache-2.0
#include "ledger/reconciliation.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "ledger/breakdown.hpp"

namespace ullage::ledger {
namespace {

bool same_roots(const std::vector<Line*>& ledgers) {
  return std::ranges::all_of(ledgers, [&](const Line* line) { return line->id == ledgers.front()->id; });
}

void take_cached_off(Line& line) {
  std::erase_if(line.children, [](const Line& child) { return child.id == "cached"; });
  line = sum_line("allocated", "allocated by PyTorch", line.known_by, std::move(line.children));
}

Line* child_of(Line& line, const std::string& id) {
  const auto found = std::ranges::find(line.children, id, &Line::id);
  return found == line.children.end() ? nullptr : &*found;
}

/// A ledger of a whole device that has the context in what is outside PyTorch.
bool has_no_context(Line& ledger) {
  const Line* context = child_of(ledger, "context");
  return ledger.id == "used" && (context == nullptr || context->bytes == 0);
}

void put_context_outside(Line& ledger) {
  std::uint64_t bytes = 0;
  KnownBy known_by = KnownBy::measured;
  for (const char* id : {"context", "outside_pytorch"})
    if (const Line* line = child_of(ledger, id)) {
      bytes += line->bytes;
      if (line->bytes > 0) known_by = std::max(known_by, line->known_by);
    }
  std::erase_if(ledger.children,
                [](const Line& child) { return child.id == "context" || child.id == "outside_pytorch"; });
  ledger.children.push_back(
      {"outside_pytorch", "outside PyTorch, the CUDA context included", bytes, known_by, {}, {}, 0});
}

/// By what lines are the same: the chart's own have ids, those below are called after modules and operators.
std::string key_of(const Line& line, std::size_t depth) {
  constexpr std::size_t chart_depth = 2;
  return depth <= chart_depth ? line.id : line.name;
}

using Sources = std::vector<const Line*>;  ///< by column; null where a ledger does not have the line

/// The children of one key.
struct Row {
  std::string key;
  Sources sources;
};

/// The place of a column in the first row of that key where it has none yet: two of one name stay two.
const Line*& row_of(std::vector<Row>& rows, const std::string& key, std::size_t column, std::size_t columns) {
  for (Row& row : rows)
    if (row.key == key && row.sources[column] == nullptr) return row.sources[column];
  return rows.emplace_back(Row{key, Sources(columns)}).sources[column];
}

std::vector<Row> rows_of(const Sources& parents, std::size_t depth) {
  std::vector<Row> rows;
  for (std::size_t column = 0; column < parents.size(); ++column) {
    if (parents[column] == nullptr) continue;
    for (const Line& child : parents[column]->children)
      row_of(rows, key_of(child, depth), column, parents.size()) = &child;
  }
  return rows;
}

bool drilled_by_all(const Sources& sources) {
  return std::ranges::all_of(
      sources, [](const Line* line) { return line == nullptr || line->bytes == 0 || !line->children.empty(); });
}

JoinedLine joined(const Sources& sources, std::size_t depth) {
  const Line& known = **std::ranges::find_if(sources, [](const Line* line) { return line != nullptr; });
  JoinedLine line{known.id, known.name, {}, {}};
  for (const Line* source : sources) line.bytes.push_back(source != nullptr ? source->bytes : 0);
  if (!drilled_by_all(sources)) return line;
  for (const Row& row : rows_of(sources, depth + 1)) line.children.push_back(joined(row.sources, depth + 1));
  return line;
}

/// The module up to one name behind its last number.
std::string part_of_layer(const std::string& module) {
  constexpr std::string_view number = ".*.";
  const auto star = module.rfind(number);
  if (star != module.npos) return module.substr(0, module.find('.', star + number.size()));
  const bool is_class = !module.empty() && module.front() >= 'A' && module.front() <= 'Z';
  const bool none = module == "the model itself" || module == "[outside modules]";
  return none || (is_class && module.find('.') == module.npos) ? "[no inner module]" : module;
}

void group_by_parts(Line& account) {
  std::vector<Line> parts;
  for (const Line& module : account.children) {
    const std::string name = part_of_layer(module.name);
    auto part = std::ranges::find(parts, name, &Line::name);
    if (part == parts.end())
      part = parts.insert(parts.end(), {account.id + "/" + name, name, 0, module.known_by, {}, {}, 0});
    part->bytes += module.bytes;
    part->count += module.count;
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), &Line::bytes);
  account.children = std::move(parts);
}

void collect(const JoinedLine& line, std::vector<const JoinedLine*>& out) {
  if (line.children.empty()) out.push_back(&line);
  for (const JoinedLine& child : line.children) collect(child, out);
}

void check_into(const JoinedLine& line, std::vector<std::string>& violations) {
  for (std::size_t column = 0; column < line.bytes.size() && !line.children.empty(); ++column) {
    std::uint64_t sum = 0;
    for (const JoinedLine& child : line.children) sum += child.bytes[column];
    if (sum != line.bytes[column])
      violations.push_back(line.id + ", column " + std::to_string(column) + ": " + std::to_string(sum) + ", " +
                           std::to_string(line.bytes[column]));
  }
  for (const JoinedLine& child : line.children) check_into(child, violations);
}

}  // namespace

std::vector<Line>& accounts_of(Line& chart) {
  for (const char* id : {"reserved", "allocated"})
    if (Line* memory = child_of(chart, id)) return memory->children;
  return chart.children;
}

void by_parts_of_layers(Line& chart) {
  for (Line& account : accounts_of(chart))
    if (account.id == "activations" || account.id == "temporaries") group_by_parts(account);
}

std::vector<std::string> to_common_root(const std::vector<Line*>& ledgers) {
  std::vector<std::string> notes;
  if (same_roots(ledgers)) return notes;
  for (Line* ledger : ledgers)
    if (const Line* memory = pytorch_line(*ledger)) *ledger = Line(*memory);
  notes.emplace_back("compared is PyTorch's memory alone: not every source shows the rest of the device");
  if (same_roots(ledgers)) return notes;
  for (Line* ledger : ledgers) take_cached_off(*ledger);
  notes.emplace_back("compared is what is allocated: not every source says what is reserved");
  return notes;
}

Joined join(std::vector<Line> ledgers) {
  std::vector<Line*> all;
  for (Line& ledger : ledgers) all.push_back(&ledger);
  Joined result;
  result.notes = to_common_root(all);
  if (std::ranges::any_of(ledgers, has_no_context) && !std::ranges::all_of(ledgers, has_no_context)) {
    for (Line& ledger : ledgers) put_context_outside(ledger);
    result.notes.emplace_back("the CUDA context is in 'outside PyTorch': not every source tells them apart");
  }
  result.root = joined(Sources(all.begin(), all.end()), 0);
  return result;
}

std::vector<const JoinedLine*> leaves(const JoinedLine& root) {
  std::vector<const JoinedLine*> found;
  collect(root, found);
  return found;
}

std::vector<std::string> check(const JoinedLine& line) {
  std::vector<std::string> violations;
  check_into(line, violations);
  return violations;
}

}  // namespace ullage::ledger
