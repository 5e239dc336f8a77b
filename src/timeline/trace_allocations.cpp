// SPDX-License-Identifier: Apache-2.0
#include "timeline/trace_allocations.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_map>

namespace ullage::timeline {
namespace {

constexpr std::uint64_t made_up = std::uint64_t{1} << 60;       // far from every device address
constexpr std::uint64_t made_up_step = std::uint64_t{1} << 38;  // further apart than any allocation is large

class Converter {
 public:
  Converter(Trace& trace, int device) : trace_(trace), memory_(trace.memory) {
    out_.timeline.device = device;
    out_.timeline.stream_index(0);
    out_.initial.frees_are_requested = false;
    for (std::uint32_t i = 0; i < memory_.count(); ++i) {
      if (memory_.device[i] != device || memory_.bytes[i] == 0) continue;
      mine_.push_back(i);
      out_.has_totals |= memory_.allocated[i] > 0;
      addressed_ |= memory_.address[i] != 0;
    }
  }

  TraceTimeline run() {
    std::ranges::sort(trace_.ooms, {}, &TraceOutOfMemory::time_ns);
    auto oom = trace_.ooms.begin();
    for (const std::uint32_t i : mine_) {
      for (; oom != trace_.ooms.end() && oom->time_ns <= memory_.time_ns[i]; ++oom) fail(*oom);
      if (!addressed_) make_address(i);
      memory_.bytes[i] > 0 ? allocate(i) : free(i);
    }
    for (; oom != trace_.ooms.end(); ++oom) fail(*oom);
    find_older();
    std::ranges::sort(out_.initial.blocks, {}, &InitialBlock::address);
    return std::move(out_);
  }

 private:
  void push(Action action, std::uint64_t address, std::uint64_t bytes, std::int64_t time_ns) {
    out_.timeline.events.push_back({action, address, bytes, 0, (trace_.base_ns + time_ns) / 1000, no_stack});
    out_.time_ns.push_back(time_ns);
    if (out_.has_totals) out_.reserved.push_back(reserved_);
  }

  void fail(const TraceOutOfMemory& oom) {
    if (oom.device == out_.timeline.device) push(Action::oom, 0, oom.bytes, oom.time_ns);
  }

  // The latest allocation of the same size stands for what a free without an address frees; its address is used again.
  void make_address(std::uint32_t i) {
    const std::int64_t bytes = memory_.bytes[i];
    auto& candidates = (bytes > 0 ? free_by_size_ : by_size_)[std::abs(bytes)];
    if (candidates.empty()) {
      memory_.address[i] = made_up + made_up_step * ++given_;
    } else {
      memory_.address[i] = candidates.back();
      candidates.pop_back();
      out_.matched_by_size += bytes < 0;
    }
    (bytes > 0 ? by_size_ : free_by_size_)[std::abs(bytes)].push_back(memory_.address[i]);
  }

  void allocate(std::uint32_t i) {
    const std::uint64_t address = memory_.address[i];
    const auto bytes = static_cast<std::uint64_t>(memory_.bytes[i]);
    if (const auto live = live_.find(address); live != live_.end()) {
      push(Action::free_completed, address, live->second, memory_.time_ns[i]);
      sum_ -= static_cast<std::int64_t>(live->second);
      ++out_.lost_frees;
    }
    live_[address] = bytes;
    sum_ += static_cast<std::int64_t>(bytes);
    look(i);
    push(Action::alloc, address, bytes, memory_.time_ns[i]);
  }

  void free(std::uint32_t i) {
    const std::uint64_t address = memory_.address[i];
    auto bytes = static_cast<std::uint64_t>(-memory_.bytes[i]);
    if (const auto live = live_.find(address); live != live_.end()) {
      bytes = live->second;
      live_.erase(live);
    } else {
      older_.push_back({address, bytes});
    }
    sum_ -= static_cast<std::int64_t>(bytes);
    lowest_ = std::min(lowest_, sum_);
    look(i);
    push(Action::free_completed, address, bytes, memory_.time_ns[i]);
  }

  // The allocator's total less the sum of the events is what is older than the trace: always the same.
  void look(std::uint32_t i) {
    if (!out_.has_totals) return;
    reserved_ = memory_.reserved[i];
    const std::int64_t base = static_cast<std::int64_t>(memory_.allocated[i]) - sum_;
    if (!base_) base_ = base;
    if (base == *base_) return;
    ++out_.disagreements;
    out_.largest_disagreement =
        std::max(out_.largest_disagreement, static_cast<std::uint64_t>(base > *base_ ? base - *base_ : *base_ - base));
  }

  void find_older() {
    std::uint64_t freed = 0;
    std::unordered_map<std::uint64_t, bool> seen;
    for (const auto& [address, bytes] : older_) {
      if (!seen.try_emplace(address, true).second) continue;
      out_.initial.blocks.push_back({address, bytes, bytes, false, false});
      freed += bytes;
    }
    const std::int64_t all = base_.value_or(-lowest_);
    out_.older_bytes = std::max(freed, static_cast<std::uint64_t>(std::max<std::int64_t>(all, 0)));
    if (out_.older_bytes == freed) return;
    const std::uint64_t rest = out_.older_bytes - freed;
    out_.initial.blocks.push_back({made_up, rest, rest, false, false});
  }

  struct Older {
    std::uint64_t address, bytes;
  };

  Trace& trace_;
  MemoryEvents& memory_;
  TraceTimeline out_;
  std::vector<std::uint32_t> mine_;
  std::unordered_map<std::uint64_t, std::uint64_t> live_;
  std::map<std::int64_t, std::vector<std::uint64_t>> by_size_;       ///< made-up addresses that live
  std::map<std::int64_t, std::vector<std::uint64_t>> free_by_size_;  ///< and that do not
  std::vector<Older> older_;
  std::optional<std::int64_t> base_;
  std::int64_t sum_ = 0, lowest_ = 0;
  std::uint64_t reserved_ = 0, given_ = 0;
  bool addressed_ = false;
};

}  // namespace

std::optional<int> busiest_device(const Trace& trace) {
  std::map<int, std::uint64_t> bytes;
  for (std::size_t i = 0; i < trace.memory.count(); ++i) {
    if (trace.memory.device[i] >= 0 && trace.memory.bytes[i] > 0)
      bytes[trace.memory.device[i]] += static_cast<std::uint64_t>(trace.memory.bytes[i]);
  }
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
  if (most == bytes.end()) return std::nullopt;
  return most->first;
}

TraceTimeline timeline_of(Trace& trace, int device) {
  return Converter(trace, device).run();
}

}  // namespace ullage::timeline
