// SPDX-License-Identifier: Apache-2.0
#include "report/text/segment_bar.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace ullage::report {
namespace {

using timeline::BlockState;

constexpr std::uint64_t width = 32;
constexpr std::string_view letters = "PGOCWIATU";  // in the order of attribution::Category
static_assert(letters.size() == attribution::categories);
constexpr std::size_t waiting = attribution::categories;

/// Used bytes of a part by category, and of what waits.
using Part = std::array<std::uint64_t, attribution::categories + 1>;

char character_of(const Part& part, std::uint64_t bytes) {
  std::uint64_t used = 0;
  for (const std::uint64_t share : part) used += share;
  if (used == 0) return '.';
  const auto most = static_cast<std::size_t>(std::ranges::max_element(part) - part.begin());
  if (most == waiting) return '~';
  return used >= bytes - bytes / 2 ? letters[most] : static_cast<char>(std::tolower(letters[most]));
}

}  // namespace

std::string segment_bar(const ledger::OwnedSegment& segment, const ledger::Segments& all) {
  const auto begin_of = [&](std::uint64_t part) {
    return segment.bytes / width * part + segment.bytes % width * part / width;
  };
  std::array<Part, width> parts{};
  std::uint64_t at = 0;
  for (const ledger::OwnedBlock& block : segment.blocks) {
    const std::uint64_t end = block.offset + block.bytes;
    while (at + 1 < width && begin_of(at + 1) <= block.offset) ++at;
    if (block.owner == ledger::no_owner) continue;
    const bool waits = block.state == BlockState::pending_free;
    const std::size_t use = waits ? waiting : static_cast<std::size_t>(all.owners[block.owner].category);
    for (std::uint64_t part = at; part < width && begin_of(part) < end; ++part)
      parts[part][use] += std::min(end, begin_of(part + 1)) - std::max(block.offset, begin_of(part));
  }
  std::string bar;
  for (std::uint64_t part = 0; part < width; ++part)
    bar += character_of(parts[part], begin_of(part + 1) - begin_of(part));
  return bar;
}

std::string bar_legend(std::string_view bars) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(text.empty() ? "" : ", ").append(part); };
  bool small = false;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const bool is_small = bars.find(static_cast<char>(std::tolower(letters[i]))) != bars.npos;
    small = small || is_small;
    if (!is_small && bars.find(letters[i]) == bars.npos) continue;
    add(std::string(1, letters[i]) + ' ' + name_of(static_cast<attribution::Category>(i)));
  }
  if (bars.find('~') != bars.npos) add("~ freed, but in use on another stream");
  if (bars.find('.') != bars.npos) add(". free");
  return text + (small ? "; a small letter: less than half of the part is used" : "");
}

}  // namespace ullage::report
