// SPDX-License-Identifier: Apache-2.0
#include "findings/lines.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "ledger/texts.hpp"

namespace ullage::findings {

namespace {

using timeline::FrameId;

std::optional<FrameId> frame_of(const timeline::Timeline& timeline, timeline::StackId stack, LineKind kind) {
  if (kind == LineKind::module_call) {
    if (const auto call = timeline::module_call(timeline, stack)) return call;
  }
  const auto found = timeline::user_line(timeline, stack);
  return kind != LineKind::outside_torch && found.outside_packages ? found.outside_packages : found.outside_torch;
}

}  // namespace

CodeLine code_line(const timeline::Timeline& timeline, timeline::StackId stack, LineKind kind) {
  const auto frame = frame_of(timeline, stack, kind);
  const auto outermost = timeline::outermost_own_frame(timeline, stack);
  CodeLine code;
  if (frame) code.line = ledger::frame_text(timeline, *frame);
  if (outermost && outermost != frame) code.called_from = ledger::frame_text(timeline, *outermost);
  return code;
}

std::string line_of(const Subject& subject, AllocationId id, LineKind kind) {
  const auto frame = frame_of(subject.timeline(), subject.allocations().stack[id], kind);
  return frame ? ledger::frame_text(subject.timeline(), *frame) : std::string();
}

std::vector<LineSum> by_line(const Subject& subject, std::span<const AllocationId> allocations, LineKind kind) {
  std::map<timeline::StackId, CodeLine> known;
  std::map<std::string, LineSum> sums;
  for (const AllocationId id : allocations) {
    const timeline::StackId stack = subject.allocations().stack[id];
    const auto [code, is_new] = known.try_emplace(stack);
    if (is_new) code->second = code_line(subject.timeline(), stack, kind);
    LineSum& sum = sums[code->second.line];
    if (sum.allocations.empty()) sum.code = code->second;
    sum.bytes += subject.bytes(id);
    sum.allocations.push_back(id);
  }
  std::vector<LineSum> result;
  for (auto& [text, sum] : sums) result.push_back(std::move(sum));
  std::ranges::stable_sort(result, std::ranges::greater(), &LineSum::bytes);
  return result;
}

std::uint64_t sum_of(const Subject& subject, std::span<const AllocationId> allocations) {
  std::uint64_t sum = 0;
  for (const AllocationId id : allocations) sum += subject.bytes(id);
  return sum;
}

CodeLine main_line(const Subject& subject, std::span<const AllocationId> allocations, LineKind kind) {
  for (const LineSum& sum : by_line(subject, allocations, kind)) {
    if (!sum.code.line.empty()) return sum.code;
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
    part.text =
        format_bytes(part.bytes) + " in " + std::to_string(part.blocks) + (part.blocks == 1 ? " block" : " blocks");
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
