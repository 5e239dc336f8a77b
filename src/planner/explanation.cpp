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

}  // namespace

std::vector<LineOrigin> origins_of(const program::Program& program, const std::vector<LiveTensor>& live) {
  LineNames names(program);
  std::unordered_map<std::string, Sizes> sizes;
  for (const LiveTensor& one : live) {
    const program::Tensor& tensor = program.tensors[one.tensor];
    ++sizes[names.of(tensor)][tensor.bytes];
  }
  std::vector<LineOrigin> origins;
  for (std::size_t i = 0; i < program.events.size() && !sizes.empty(); ++i) {
    if (!program::is_request(program.events[i])) continue;
    const auto found = sizes.find(names.of(program.tensors[program::tensor_of(program.events[i])]));
    if (found == sizes.end()) continue;
    origins.push_back(origin_of(found->first, found->second));
    origins.back().first_event = i;
    sizes.erase(found);
  }
  return origins;
}

}  // namespace ullage::planner
