// SPDX-License-Identifier: Apache-2.0
// Lines of code that a finding names, and allocations added up by them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings/subject.hpp"

namespace ullage::findings {

/// "file:line function" of the innermost frame outside torch that made it; empty when there is none.
std::string line_of(const Subject& subject, AllocationId id);
/// The same, outside all installed packages; else as line_of.
std::string own_line_of(const Subject& subject, AllocationId id);
/// Of the innermost frame outside torch around the outermost module that was being called; else as own_line_of.
std::string calling_line_of(const Subject& subject, AllocationId id);

/// Allocations that one line of code made.
struct LineSum {
  std::string line;
  std::uint64_t bytes = 0;
  std::vector<AllocationId> allocations;
};
using LineFunction = std::string (*)(const Subject&, AllocationId);

/// The most bytes first.
std::vector<LineSum> by_line(const Subject& subject, std::span<const AllocationId> allocations,
                             LineFunction line = line_of);
std::uint64_t sum_of(const Subject& subject, std::span<const AllocationId> allocations);

/// The line with the most bytes; empty when there is none.
std::string main_line(const Subject& subject, std::span<const AllocationId> allocations, LineFunction line = line_of);

/// "1.50 GiB in 12 blocks by aten::softmax in transformer.h.*.attn", for the largest groups of module and operator.
std::vector<std::string> parts_of(const Subject& subject, std::span<const AllocationId> allocations,
                                  std::size_t most = 3);

}  // namespace ullage::findings
