// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/transfers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>

namespace ullage::ingest {

namespace {

using ledger::MarkName;

/// Mark indexes around a step: everything after `from` and up to `to`.
struct Window {
  std::uint32_t step = 0;
  std::uint32_t from = 0;
  std::uint32_t to = std::numeric_limits<std::uint32_t>::max();
};

std::uint32_t first_forward(std::span<const ledger::Mark> marks) {
  const auto found = std::ranges::find(marks, MarkName::forward_begin, &ledger::Mark::name);
  return found == marks.end() ? 0 : found->index;
}

// Several optimizers may share a step: its last mark ends it.
std::vector<Window> windows_of(std::span<const ledger::Mark> marks) {
  std::vector<Window> windows;
  for (const auto& mark : marks) {
    if (mark.name != MarkName::optimizer_end) continue;
    if (windows.empty())
      windows.push_back({mark.step, first_forward(marks), mark.index});
    else if (windows.back().step < mark.step)
      windows.push_back({mark.step, windows.back().to, mark.index});
    else
      windows.back().to = mark.index;
  }
  if (windows.empty()) windows.push_back({});
  return windows;
}

bool inside(const LogInterval& interval, const Window& window) {
  const std::uint32_t end = interval.end_mark.value_or(std::numeric_limits<std::uint32_t>::max());
  return end > window.from && end <= window.to;
}

class StepSums {
 public:
  explicit StepSums(const DeviceLog& log) : log_(log) {}

  void add(const LogInterval& interval) {
    for (const auto& copy : interval.copies) add(copy);
    for (const auto& sync : interval.syncs)
      syncs_[{std::string(log_.name(sync.function)), std::string(log_.name(sync.line))}] += sync.count;
  }

  [[nodiscard]] ledger::StepTransfers take(std::uint32_t step) && {
    ledger::StepTransfers result;
    result.step = step;
    for (auto& [key, copy] : copies_) result.copies.push_back(std::move(copy));
    std::ranges::stable_sort(result.copies, std::ranges::greater(), &ledger::CopyLine::bytes);
    for (const auto& [key, count] : syncs_) result.syncs.push_back({key.first, key.second, count});
    return result;
  }

 private:
  void add(const CopySum& copy) {
    const bool up = copy.direction == ulog::Direction::host_to_device;
    if (!up && copy.direction != ulog::Direction::device_to_host) return;
    const char* direction = up ? "host_to_device" : "device_to_host";
    ledger::CopyLine& sum = copies_[{direction, copy.pinned, std::string(log_.name(copy.line))}];
    sum.direction = direction, sum.pinned = copy.pinned, sum.line = log_.name(copy.line);
    sum.count += copy.count, sum.bytes += copy.bytes, sum.waited += copy.waited;
    sum.repeated += copy.repeated, sum.repeated_bytes += copy.repeated_bytes;
  }

  const DeviceLog& log_;
  std::map<std::tuple<std::string, bool, std::string>, ledger::CopyLine> copies_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> syncs_;
};

}  // namespace

std::vector<ledger::StepTransfers> transfers_by_step(const DeviceLog& log, std::span<const ledger::Mark> marks) {
  std::vector<ledger::StepTransfers> result;
  for (const Window& window : windows_of(marks)) {
    StepSums sums(log);
    for (const auto& interval : log.intervals) {
      if (inside(interval, window)) sums.add(interval);
    }
    result.push_back(std::move(sums).take(window.step));
  }
  return result;
}

}  // namespace ullage::ingest
