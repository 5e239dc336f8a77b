// SPDX-License-Identifier: Apache-2.0
#include "ledger/operator_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace ullage::ledger {

namespace {

using timeline::CallId;
using timeline::CallKind;
using timeline::no_call;

// What belongs to each call, before rows are made.
struct PerCall {
  std::vector<std::int64_t> self_cpu, device, net;
  std::vector<std::uint64_t> allocated, largest;
  explicit PerCall(std::size_t count) : self_cpu(count), device(count), net(count), allocated(count), largest(count) {}
};

class TableMaker {
 public:
  TableMaker(const timeline::Trace& trace, int device, const std::function<std::string(CallId)>& key_of)
      : trace_(trace), calls_(trace.calls), device_(device), key_of_(key_of), self_(calls_.count()) {}

  OperatorTable run() {
    take_cpu();
    take_memory();
    take_device();
    for (CallId call = 0; call < calls_.count(); ++call) {
      if (is_operator(call)) add_call(call);
    }
    for (auto& [key, row] : rows_) table_.rows.push_back(std::move(row));
    return std::move(table_);
  }

 private:
  [[nodiscard]] bool is_operator(CallId call) const {
    return calls_.kind[call] == CallKind::operation || calls_.kind[call] == CallKind::annotation;
  }
  [[nodiscard]] CallId operator_around(CallId call) const {
    while (call != no_call && !is_operator(call)) call = calls_.parent[call];
    return call;
  }

  void take_cpu() {
    for (CallId call = 0; call < calls_.count(); ++call) {
      if (!is_operator(call)) continue;
      const std::int64_t time = calls_.end_ns[call] - calls_.begin_ns[call];
      self_.self_cpu[call] += time;
      const CallId outer = operator_around(calls_.parent[call]);
      if (outer != no_call) self_.self_cpu[outer] -= time;
    }
  }

  void take_memory() {
    const auto& memory = trace_.memory;
    for (std::size_t i = 0; i < memory.count(); ++i) {
      if (memory.device[i] != device_) continue;
      const CallId call = operator_around(memory.call[i]);
      const auto bytes = memory.bytes[i] > 0 ? static_cast<std::uint64_t>(memory.bytes[i]) : 0;
      if (call == no_call) {
        table_.outside_allocated += bytes;
        continue;
      }
      self_.net[call] += memory.bytes[i];
      self_.allocated[call] += bytes;
      self_.largest[call] = std::max(self_.largest[call], bytes);
    }
  }

  void take_device() {
    std::unordered_map<std::uint32_t, CallId> by_external;
    for (CallId call = 0; call < calls_.count(); ++call) {
      if (is_operator(call) && calls_.external[call] != 0) by_external[calls_.external[call]] = call;
    }
    for (CallId call = 0; call < calls_.count(); ++call) {
      if (calls_.kind[call] != CallKind::kernel && calls_.kind[call] != CallKind::copy) continue;
      table_.has_device_times = true;
      const auto found = by_external.find(calls_.external[call]);
      if (found != by_external.end()) self_.device[found->second] += calls_.end_ns[call] - calls_.begin_ns[call];
    }
  }

  OperatorRow& row_of(CallId call) {
    std::string name(trace_.strings.text(calls_.name[call]));
    std::string key = key_of_(call);
    OperatorRow& row = rows_[{name, key}];
    if (row.calls == 0) row.name = std::move(name), row.key = std::move(key);
    return row;
  }

  void add_call(CallId call) {
    OperatorRow& row = row_of(call);
    ++row.calls;
    row.cpu_ns += calls_.end_ns[call] - calls_.begin_ns[call];
    row.self_cpu_ns += self_.self_cpu[call];
    row.self_device_ns += self_.device[call];
    row.self_allocated += self_.allocated[call];
    row.self_net += self_.net[call];
    row.largest = std::max(row.largest, self_.largest[call]);
    add_totals(call);
    OperatorRow& total = table_.total;
    ++total.calls;
    total.self_cpu_ns += self_.self_cpu[call];
    total.self_device_ns += self_.device[call];
    total.self_allocated += self_.allocated[call];
    total.self_net += self_.net[call];
    total.largest = std::max(total.largest, self_.largest[call]);
  }

  // What a call has by itself counts in all calls around it.
  void add_totals(CallId call) {
    if (self_.device[call] == 0 && self_.allocated[call] == 0 && self_.net[call] == 0) return;
    for (CallId outer = call; outer != no_call; outer = operator_around(calls_.parent[outer])) {
      OperatorRow& row = row_of(outer);
      row.device_ns += self_.device[call];
      row.allocated += self_.allocated[call];
      row.net += self_.net[call];
    }
  }

  const timeline::Trace& trace_;
  const timeline::Calls& calls_;
  int device_;
  const std::function<std::string(CallId)>& key_of_;
  PerCall self_;
  std::map<std::pair<std::string, std::string>, OperatorRow> rows_;
  OperatorTable table_;
};

std::int64_t value_of(const OperatorRow& row, OperatorOrder order) {
  switch (order) {
    case OperatorOrder::self_memory:
      return static_cast<std::int64_t>(row.self_allocated);
    case OperatorOrder::memory:
      return static_cast<std::int64_t>(row.allocated);
    case OperatorOrder::largest:
      return static_cast<std::int64_t>(row.largest);
    case OperatorOrder::self_cpu:
      return row.self_cpu_ns;
    case OperatorOrder::cpu:
      return row.cpu_ns;
    case OperatorOrder::device:
      return row.device_ns;
    case OperatorOrder::calls:
      return static_cast<std::int64_t>(row.calls);
    case OperatorOrder::name:
      return 0;
  }
  return 0;
}

}  // namespace

OperatorTable operator_table(const timeline::Trace& trace, int device,
                             const std::function<std::string(CallId)>& key_of) {
  return TableMaker(trace, device, key_of).run();
}

void sort(OperatorTable& table, OperatorOrder order) {
  std::ranges::sort(table.rows, [order](const OperatorRow& a, const OperatorRow& b) {
    return std::tuple(-value_of(a, order), std::string_view(a.name), std::string_view(a.key)) <
           std::tuple(-value_of(b, order), std::string_view(b.name), std::string_view(b.key));
  });
}

}  // namespace ullage::ledger
