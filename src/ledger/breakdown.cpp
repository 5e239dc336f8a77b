// SPDX-License-Identifier: Apache-2.0
#include "ledger/breakdown.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "ledger/texts.hpp"

namespace ullage::ledger {

namespace {

using attribution::Category;
using attribution::Label;
using timeline::AllocationId;

// The texts of one level by allocation, each worked out once per text of its source.
class Keys {
 public:
  explicit Keys(const Cut& cut) : cut_(cut), lines_(*cut.timeline) {}

  std::string of(Level level, AllocationId id) {
    const Label& label = cut_.labels->of[id];
    const auto text = [&](timeline::StringId text_id) { return std::string(cut_.labels->strings.text(text_id)); };
    switch (level) {
      case Level::category:
        return attribution::id_of(label.category);
      case Level::kind:
        return text(label.kind);
      case Level::module:
        return text(label.module);
      case Level::layer:
        return layers_as_stars(text(label.module));
      case Level::operation:
        return text(label.operation);
      case Level::line:
        return lines_.of(cut_.allocations->stack[id]);
      case Level::tensor:
        return label.name != 0 ? text(label.name) : "of " + format_bytes(cut_.allocations->requested[id]);
      case Level::block:
        return fmt_block(id);
    }
    return {};
  }

 private:
  [[nodiscard]] std::string fmt_block(AllocationId id) const {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::uint64_t address = cut_.allocations->address[id]; address != 0; address >>= 4)
      text.insert(text.begin(), digits[address & 15]);
    const bool older = cut_.allocations->older(id);
    return "0x" + text + (older ? std::string(" older") : " event " + std::to_string(cut_.allocations->born[id]));
  }
  const Cut& cut_;
  LineTexts lines_;
};

const char* unknown_of(Level level) {
  switch (level) {
    case Level::module:
    case Level::layer:
      return "[outside modules]";
    case Level::operation:
      return "[operator not known]";
    case Level::line:
      return "[no Python line]";
    default:
      return "";
  }
}

struct Node {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  AttributedBy by = AttributedBy::named;
  std::map<std::string, Node> children;
};

// From strong to weak; a line is known as well as the weakest of its parts.
int weakness(AttributedBy by) {
  constexpr int order[] = {6, 0, 1, 3, 4, 5, 2};  // nothing, named, module, frames, lifetime, size, annotation
  return order[static_cast<std::size_t>(by)];
}

void add(Node& node, const Label& label, std::uint64_t bytes) {
  node.by = node.count == 0 || weakness(label.by) > weakness(node.by) ? label.by : node.by;
  node.bytes += bytes;
  ++node.count;
}

std::string slug(std::string_view text) {
  std::string result(text);
  std::ranges::replace(result, ' ', '_');
  return result;
}

// The virtual GPU's cuDNN asks for scratch of an estimated size.
KnownBy known_by_of(Category category, const std::string& kind, KnownBy known_by) {
  const bool estimated = known_by == KnownBy::executed && category == Category::workspaces && kind == "cuDNN";
  return estimated ? KnownBy::estimated : known_by;
}

// A level that tells nothing gives way to the one below it.
void skip_unnamed(Line& line) {
  if (line.children.size() != 1 || line.children[0].name != "other") return;
  std::vector<Line> below = std::move(line.children[0].children);
  line.children = std::move(below);
}

std::vector<Line> lines_of(const Node& node, const std::string& parent, std::span<const Level> levels,
                           KnownBy known_by) {
  std::vector<Line> result;
  if (levels.empty()) return result;
  for (const auto& [key, child] : node.children) {
    Line line;
    line.id = parent + (levels.front() == Level::kind ? "." : "/") + (key.empty() ? "other" : slug(key));
    line.name = !key.empty() ? key : *unknown_of(levels.front()) != '\0' ? unknown_of(levels.front()) : "other";
    line.bytes = child.bytes;
    line.known_by = known_by;
    line.attributed_by = child.by;
    line.count = child.count;
    line.children = lines_of(child, line.id, levels.subspan(1), known_by);
    skip_unnamed(line);
    result.push_back(std::move(line));
  }
  std::ranges::stable_sort(result, std::ranges::greater(), &Line::bytes);
  return result;
}

Line leaf(const char* id, const char* name, std::uint64_t bytes, KnownBy known_by) {
  return {id, name, bytes, known_by, AttributedBy::nothing, {}, 0};
}

constexpr Category always[] = {Category::parameters, Category::gradients, Category::optimizer_state,
                               Category::activations, Category::temporaries};

struct Totals {
  Node categories[attribution::categories];
  std::uint64_t allocated = 0;
  std::uint64_t requested = 0;
};

Totals collect(const Cut& cut, std::span<const Level> levels) {
  Totals totals;
  Keys keys(cut);
  const auto& allocations = *cut.allocations;
  for (AllocationId id = 0; id < allocations.count(); ++id) {
    if (!allocations.live_at(id, cut.events)) continue;
    const Label& label = cut.labels->of[id];
    const std::uint64_t bytes = std::min(allocations.requested[id], allocations.size[id]);
    totals.allocated += allocations.size[id];
    totals.requested += bytes;
    Node* node = &totals.categories[static_cast<std::size_t>(label.category)];
    add(*node, label, bytes);
    for (const Level level : levels) {
      node = &node->children[keys.of(level, id)];
      add(*node, label, bytes);
    }
  }
  return totals;
}

Line pytorch_memory(const Cut& cut, const Totals& totals, std::span<const Level> levels) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < attribution::categories; ++i) {
    const auto category = static_cast<Category>(i);
    const Node& node = totals.categories[i];
    const bool wanted = std::ranges::find(always, category) != std::end(always);
    if (category == Category::unattributed)
      lines.push_back(leaf("rounding", "rounding to blocks", totals.allocated - totals.requested, cut.known_by));
    if (node.bytes == 0 && !wanted && category != Category::unattributed) continue;
    Line line{attribution::id_of(category),
              attribution::name_of(category),
              node.bytes,
              cut.known_by,
              node.count > 0 ? node.by : AttributedBy::nothing,
              {},
              node.count};
    line.children = lines_of(node, line.id, levels, cut.known_by);
    skip_unnamed(line);
    for (Line& child : line.children) {
      child.known_by = known_by_of(category, child.name, cut.known_by);
      line.known_by = std::max(line.known_by, child.known_by);
    }
    lines.push_back(std::move(line));
  }
  if (!cut.reserved) return sum_line("allocated", "allocated by PyTorch", cut.known_by, std::move(lines));
  const std::uint64_t reserved = std::max(*cut.reserved, totals.allocated);
  lines.push_back(leaf("cached", "cached, not allocated", reserved - totals.allocated, cut.known_by));
  return sum_line("reserved", "PyTorch reserved", cut.known_by, std::move(lines));
}

void fold_children(Line& line, std::size_t most) {
  for (Line& child : line.children) fold_children(child, most);
  if (line.children.size() <= most || line.children.size() - most == 1) return;
  const std::size_t others = line.children.size() - most;
  Line rest{line.id + "/others", std::to_string(others) + " others", 0, line.known_by, AttributedBy::named, {}, 0};
  for (std::size_t i = most; i < line.children.size(); ++i) {
    const Line& child = line.children[i];
    rest.bytes += child.bytes;
    rest.count += child.count;
    if (i == most || weakness(child.attributed_by) > weakness(rest.attributed_by))
      rest.attributed_by = child.attributed_by;
  }
  line.children.resize(most);
  line.children.push_back(std::move(rest));
}

}  // namespace

const char* name_of(Level level) {
  constexpr const char* names[] = {"category", "kind", "module", "layer", "operator", "line", "tensor", "block"};
  return names[static_cast<std::size_t>(level)];
}

Line chart(const Cut& cut, std::span<const Level> by) {
  std::vector<Level> levels;
  std::ranges::copy_if(by, std::back_inserter(levels), [](Level level) { return level != Level::category; });
  const Totals totals = collect(cut, levels);
  if (!cut.whole_device) return pytorch_memory(cut, totals, levels);
  std::vector<Line> lines;
  lines.push_back(leaf("context", "CUDA context and loaded modules", cut.context, KnownBy::estimated));
  lines.push_back(pytorch_memory(cut, totals, levels));
  lines.push_back(leaf("outside_pytorch", "outside PyTorch", cut.outside, cut.known_by));
  return sum_line("used", "used on the device", cut.known_by, std::move(lines));
}

const Line* pytorch_line(const Line& chart) {
  const Line* reserved = find(chart, "reserved");
  return reserved != nullptr ? reserved : find(chart, "allocated");
}

std::vector<Line> largest_owners(const Cut& cut, std::size_t most) {
  constexpr Level levels[] = {Level::layer, Level::operation};
  const Line root = chart(cut, levels);
  std::vector<Line> result;
  for (const char* id : {"activations", "temporaries"}) {
    const Line* category = find(root, id);
    if (category == nullptr) continue;
    for (const Line& layer : category->children) {
      for (const Line& operation : layer.children) {
        result.push_back(operation);
        result.back().name = layer.name + ", " + operation.name;
      }
    }
  }
  std::ranges::stable_sort(result, std::ranges::greater(), &Line::bytes);
  if (result.size() > most) result.resize(most);
  return result;
}

void fold(Line& line, std::size_t most) {
  if (line.id == "used" || &line == pytorch_line(line)) {
    for (Line& child : line.children) fold(child, most);
  } else {
    fold_children(line, most);
  }
}

}  // namespace ullage::ledger
