// SPDX-License-Identifier: Apache-2.0
#include "planner/explanation.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

namespace ullage::planner {
namespace {

using Sizes = std::map<std::uint64_t, std::uint64_t>;

LineOrigin origin_of(const std::string& line, const Sizes& sizes) {
  LineOrigin origin{line, {sizes.begin(), sizes.end()}, 0, 0};
  for (const auto& [bytes, count] : origin.sizes) origin.bytes += bytes * count;
  std::ranges::stable_sort(origin.sizes, std::greater<>{}, [](const auto& size) { return size.first * size.second; });
  return origin;
}

/// By line.
std::unordered_map<std::string, LineOrigin> by_line(const program::Program& program, LineNames& names,
                                                    const std::vector<LiveTensor>& live) {
  std::unordered_map<std::string, Sizes> sizes;
  for (const LiveTensor& one : live) {
    const program::Tensor& tensor = program.tensors[one.tensor];
    ++sizes[names.of(tensor)][tensor.bytes];
  }
  std::unordered_map<std::string, LineOrigin> lines;
  for (const auto& [line, its] : sizes) lines.emplace(line, origin_of(line, its));
  return lines;
}

}  // namespace

std::vector<LineOrigin> origins_of(const program::Program& program, const std::vector<LiveTensor>& live) {
  LineNames names(program);
  auto lines = by_line(program, names, live);
  std::vector<LineOrigin> origins;
  for (std::size_t i = 0; i < program.events.size() && !lines.empty(); ++i) {
    if (!program::is_request(program.events[i])) continue;
    const program::Tensor& tensor = program.tensors[program::tensor_of(program.events[i])];
    const auto found = lines.find(names.of(tensor));
    if (found == lines.end() || tensor.bytes != found->second.sizes.front().first) continue;
    found->second.first_event = i;
    origins.push_back(std::move(found->second));
    lines.erase(found);
  }
  return origins;
}

}  // namespace ullage::planner
