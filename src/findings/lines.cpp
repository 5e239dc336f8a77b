// SPDX-License-Identifier: Apache-2.0
#include "findings/lines.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/bytes.hpp"
#include "ledger/texts.hpp"

namespace ullage::findings {

namespace {

std::string text_of(const Subject& subject, std::optional<timeline::FrameId> frame) {
  return frame ? ledger::frame_text(subject.timeline(), *frame) : std::string();
}

}  // namespace

std::string line_of(const Subject& subject, AllocationId id) {
  return ledger::line_text(subject.timeline(), subject.allocations().stack[id]);
}

std::string own_line_of(const Subject& subject, AllocationId id) {
  const auto found = timeline::user_line(subject.timeline(), subject.allocations().stack[id]);
  return text_of(subject, found.outside_packages ? found.outside_packages : found.outside_torch);
}

std::string calling_line_of(const Subject& subject, AllocationId id) {
  const auto call = timeline::module_call(subject.timeline(), subject.allocations().stack[id]);
  return call ? text_of(subject, call) : own_line_of(subject, id);
}

std::vector<LineSum> by_line(const Subject& subject, std::span<const AllocationId> allocations, LineFunction line) {
  std::map<timeline::StackId, std::string> texts;
  std::map<std::string, LineSum> sums;
  for (const AllocationId id : allocations) {
    const auto [text, is_new] = texts.try_emplace(subject.allocations().stack[id]);
    if (is_new) text->second = line(subject, id);
    LineSum& sum = sums[text->second];
    sum.bytes += subject.bytes(id);
    sum.allocations.push_back(id);
  }
  std::vector<LineSum> result;
  for (auto& [text, sum] : sums) {
    sum.line = text;
    result.push_back(std::move(sum));
  }
  std::ranges::stable_sort(result, std::ranges::greater(), &LineSum::bytes);
  return result;
}

std::uint64_t sum_of(const Subject& subject, std::span<const AllocationId> allocations) {
  std::uint64_t sum = 0;
  for (const AllocationId id : allocations) sum += subject.bytes(id);
  return sum;
}

std::string main_line(const Subject& subject, std::span<const AllocationId> allocations, LineFunction line) {
  for (const LineSum& sum : by_line(subject, allocations, line)) {
    if (!sum.line.empty()) return sum.line;
  }
  return {};
}

std::vector<std::string> parts_of(const Subject& subject, std::span<const AllocationId> allocations, std::size_t most) {
  struct Part {
    std::string text;
    std::uint64_t bytes = 0;
    std::size_t blocks = 0;
  };
  std::map<std::pair<std::string, std::string_view>, Part> sums;
  for (const AllocationId id : allocations) {
    const std::string layer = ledger::layers_as_stars(subject.module(id));
    Part& part = sums[{layer, subject.operation(id)}];
    part.bytes += subject.bytes(id), ++part.blocks;
  }
  std::vector<Part> parts;
  for (auto& [key, part] : sums) {
    if (key.first.empty() && key.second.empty()) continue;
    part.text = format_bytes(part.bytes) + " in " + std::to_string(part.blocks) + (part.blocks == 1 ? " block" : " blocks");
    if (!key.second.empty()) part.text.append(" by ").append(key.second);
    if (!key.first.empty()) part.text.append(" in ").append(key.first);
    parts.push_back(std::move(part));
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), &Part::bytes);
  if (parts.size() > most) parts.resize(most);
  std::vector<std::string> texts;
  for (auto& part : parts) texts.push_back(std::move(part.text));
  return texts;
}

}  // namespace ullage::findings
