// SPDX-License-Identifier: Apache-2.0
// The table of operators of a trace: times, calls and memory, as the profiler's table has them, also by module and
// line.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "timeline/trace.hpp"

namespace ullage::ledger {

/// What rows are made of, beside the operator's name.
enum class Grouping : std::uint8_t { name, shape, module, line };

enum class OperatorOrder : std::uint8_t { self_memory, memory, largest, self_cpu, cpu, device, calls, name };

/// Sums over all calls of a row. Memory is of one device, in bytes: `allocated` what was allocated, `net` that less
/// what was freed; self is without the calls inside. Times are nanoseconds; device times are those of kernels and
/// copies that the calls launched, 0 when the trace has none.
struct OperatorRow {
  std::string name;
  std::string key;  ///< shapes, module or line, by the grouping
  std::uint64_t calls = 0;
  std::int64_t self_cpu_ns = 0, cpu_ns = 0;
  std::int64_t self_device_ns = 0, device_ns = 0;
  std::uint64_t self_allocated = 0, allocated = 0;
  std::int64_t self_net = 0, net = 0;
  std::uint64_t largest = 0;  ///< the largest single allocation directly in a call
};

struct OperatorTable {
  std::vector<OperatorRow> rows;
  OperatorRow total;  ///< of the outermost calls: what the rows' self values add up to
  bool has_device_times = false;
  std::uint64_t outside_allocated = 0;  ///< bytes allocated outside every operator
};

/// `key_of(call)` gives the text of the grouping for a call (empty for Grouping::name). The trace must be linked.
/// Ranges of modules are no operators; autograd's nodes are.
OperatorTable operator_table(const timeline::Trace& trace, int device,
                             const std::function<std::string(timeline::CallId)>& key_of);

/// The largest first; equal ones by name and key. By name: alphabetically.
void sort(OperatorTable& table, OperatorOrder order);

}  // namespace ullage::ledger
