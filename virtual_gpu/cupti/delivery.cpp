// SPDX-License-Identifier: Apache-2.0
// Recorder: from the records kept to the profiler's buffers.
#include <algorithm>
#include <cstring>
#include <utility>

#include "virtual_gpu/cupti/recorder.hpp"

namespace ullage::vgpu::cupti {
namespace {

template <class Visitor>
auto visit_record(const auto& record, Visitor&& visitor) {
  return std::visit(std::forward<Visitor>(visitor), record);
}

std::uint32_t correlation_of(const auto& record) {
  return visit_record(record, [](const auto& r) { return r.correlation_id; });
}

std::size_t bytes_of(const auto& record) {
  return visit_record(record, [](const auto& r) { return sizeof(r); });
}

}  // namespace

/// Writes records with their times in ticks; returns the bytes written.
std::size_t Recorder::write_group(const Record* first, std::size_t count, std::uint8_t* to) const {
  std::uint8_t* const begin = to;
  for (const Record* record = first; record != first + count; ++record)
    std::visit(
        [&](auto copy) {
          if constexpr (requires { copy.start; }) copy.start = clock_.ticks(copy.start);
          if constexpr (requires { copy.end; }) copy.end = clock_.ticks(copy.end);
          if constexpr (requires { copy.completed; }) copy.completed = copy.end;
          std::memcpy(to, &copy, sizeof(copy));
          to += sizeof(copy);
        },
        *record);
  return static_cast<std::size_t>(to - begin);
}

// The callbacks take the profiler's own lock, so this recorder's is not held while they run.
void Recorder::deliver(std::vector<Record> records) {
  std::uint8_t* buffer = std::exchange(outstanding_, nullptr);
  std::size_t capacity = outstanding_bytes_, used = 0;
  for (std::size_t i = 0; i < records.size();) {
    std::size_t end = i, bytes = 0;
    for (; end < records.size() && correlation_of(records[end]) == correlation_of(records[i]); ++end)
      bytes += bytes_of(records[end]);
    if (buffer != nullptr && used + bytes > capacity) {
      complete_(nullptr, 0, std::exchange(buffer, nullptr), capacity, used);
      used = 0;
    }
    if (buffer == nullptr) {
      std::size_t max_records = 0;
      request_(&buffer, &capacity, &max_records);
    }
    if (buffer != nullptr && bytes <= capacity)
      used += write_group(&records[i], end - i, buffer + used);
    else
      dropped_ += end - i;
    i = end;
  }
  if (buffer != nullptr) complete_(nullptr, 0, buffer, capacity, used);
}

void Recorder::flush() {
  std::vector<Record> records;
  {
    const Lock lock(mutex_);
    records.swap(records_);
    clock_.sample();
  }
  if (request_ == nullptr || complete_ == nullptr) return;
  // What belongs to one call stands together, in order of its making: external ids, device work, the call itself.
  std::stable_sort(records.begin(), records.end(),
                   [](const Record& a, const Record& b) { return correlation_of(a) < correlation_of(b); });
  deliver(std::move(records));
}

}  // namespace ullage::vgpu::cupti
