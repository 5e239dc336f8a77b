// SPDX-License-Identifier: Apache-2.0
// Lines of code that a finding names, and allocations added up by them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings/finding.hpp"
#include "findings/subject.hpp"

namespace ullage::findings {

/// Which frame of a stack is meant.
enum class LineKind : std::uint8_t {
  outside_torch,  ///< the innermost outside torch
  own,            ///< the innermost outside all installed packages; else as outside_torch
  module_call,    ///< the innermost outside torch around the outermost module that was being called; else as own
};

/// "file:line function" of what made an allocation; empty when there is none.
std::string line_of(const Subject& subject, AllocationId id, LineKind kind = LineKind::outside_torch);

/// The same with the script's outermost line, where that is another one.
CodeLine code_line(const timeline::Timeline& timeline, timeline::StackId stack,
                   LineKind kind = LineKind::outside_torch);

/// Allocations that one line of code made.
struct LineSum {
  CodeLine code;
  std::uint64_t bytes = 0;
  std::vector<AllocationId> allocations;
};

/// The most bytes first.
std::vector<LineSum> by_line(const Subject& subject, std::span<const AllocationId> allocations,
                             LineKind kind = LineKind::outside_torch);
std::uint64_t sum_of(const Subject& subject, std::span<const AllocationId> allocations);

/// The line with the most bytes; empty when there is none.
CodeLine main_line(const Subject& subject, std::span<const AllocationId> allocations,
                   LineKind kind = LineKind::outside_torch);

/// "1.50 GiB in 12 blocks by aten::softmax in transformer.h.*.attn", for the largest groups of module and operator.
std::vector<std::string> parts_of(const Subject& subject, std::span<const AllocationId> allocations,
                                  std::size_t most = 3);

}  // namespace ullage::findings
