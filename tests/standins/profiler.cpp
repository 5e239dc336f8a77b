// SPDX-License-Identifier: Apache-2.0
// The activity interface, used as a profiler uses it: buffers, records, their order, their times.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#include "virtual_gpu/cupti/records.hpp"

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMemcpyAsync(void*, const void*, std::size_t, int, void*);
int cudaMemsetAsync(void*, int, std::size_t, void*);
int cudaStreamCreate(void**);
int cudaStreamWaitEvent(void*, void*, unsigned);
int cudaEventCreate(void**);
int cudaEventRecord(void*, void*);
int cudaDeviceSynchronize();
int cuptiActivityRegisterCallbacks(void (*)(std::uint8_t**, std::size_t*, std::size_t*),
                                   void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t));
int cuptiActivityRegisterTimestampCallback(std::uint64_t (*)());
int cuptiActivityEnable(std::uint32_t);
int cuptiActivityDisable(std::uint32_t);
int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t);
int cuptiActivityFlushAll(std::uint32_t);
int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, std::uint8_t**);
int cuptiActivityPushExternalCorrelationId(std::uint32_t, std::uint64_t);
int cuptiActivityPopExternalCorrelationId(std::uint32_t, std::uint64_t*);
}

#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) {                                                \
      std::fprintf(stderr, "line %d: not %s\n", __LINE__, #condition); \
      std::exit(1);                                                    \
    }                                                                  \
  } while (false)

using namespace ullage::vgpu::cupti;

namespace {

constexpr std::uint32_t custom0 = 3;  // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
constexpr std::uint64_t tick = 4;     // ticks of this profiler's clock to the nanosecond
constexpr std::size_t buffer_bytes = 4096;
constexpr std::uint64_t mebibyte = 1 << 20;

struct Buffer {
  std::uint8_t* data;
  std::size_t valid;
};

int requested = 0;
std::vector<Buffer> completed;

std::uint64_t ticks_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec)) * tick;
}

void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  ++requested;
  *buffer = static_cast<std::uint8_t*>(std::malloc(buffer_bytes));
  *bytes = buffer_bytes;
  *records = 0;
}

void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  completed.push_back({buffer, valid});
}

template <class Record>
std::vector<Record> records(std::uint32_t kind) {
  std::vector<Record> found;
  for (const Buffer& buffer : completed) {
    std::uint8_t* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer.data, buffer.valid, &record) == 0) {
      std::uint32_t its_kind = 0;
      std::memcpy(&its_kind, record, sizeof its_kind);
      if (its_kind != kind) continue;
      found.emplace_back();
      std::memcpy(&found.back(), record, sizeof(Record));
    }
  }
  return found;
}

void forget() {
  for (const Buffer& buffer : completed) std::free(buffer.data);
  completed.clear();
}

void switch_all(bool on) {
  for (const std::uint32_t kind : {kind_memcpy, kind_memset, kind_driver, kind_runtime, kind_concurrent_kernel,
                                   kind_synchronization, kind_external_correlation})
    CHECK((on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind)) == 0);
}

/// Durations are simulated, in the profiler's ticks; work follows its stream, and a wait returns when it is over.
void check_work(void* memory) {
  const std::uint64_t before = ticks_now();
  CHECK(cuptiActivityPushExternalCorrelationId(custom0, 77) == 0);
  for (int i = 0; i < 2; ++i) CHECK(cudaMemsetAsync(memory, 0, 64 * mebibyte, nullptr) == 0);
  std::uint64_t popped = 0;
  CHECK(cuptiActivityPopExternalCorrelationId(custom0, &popped) == 0 && popped == 77);
  CHECK(cudaDeviceSynchronize() == 0);
  const std::uint64_t after = ticks_now();
  CHECK(requested == 1);  // at the first record, not at the flush
  CHECK(cuptiActivityFlushAll(1) == 0);

  const auto fills = records<MemsetRecord>(kind_memset);
  CHECK(fills.size() == 2 && fills[0].bytes == 64 * mebibyte && fills[0].stream_id == 7);
  const double first = static_cast<double>(fills[0].end - fills[0].start) / static_cast<double>(tick);
  const double second = static_cast<double>(fills[1].end - fills[1].start) / static_cast<double>(tick);
  CHECK(first > 20'000 && first < 1e6 && first / second > 0.99 && first / second < 1.01);
  CHECK(fills[1].start >= fills[0].end);
  CHECK(fills[0].start >= before && fills[1].end <= after);

  const auto calls = records<ApiRecord>(kind_runtime);
  CHECK(calls.size() == 3 && calls[0].number == 51 && calls[2].number == 165);
  CHECK(calls[0].correlation_id == fills[0].correlation_id && calls[0].end > calls[0].start);
  CHECK(records<SynchronizationRecord>(kind_synchronization).size() == 1);
  forget();
}

/// A reader that walks the buffers once must know an external id before the work it belongs to.
void check_external_ids(void* memory) {
  CHECK(cuptiActivityPushExternalCorrelationId(custom0, 5) == 0);
  for (int i = 0; i < 200; ++i) CHECK(cudaMemsetAsync(memory, 0, 1024, nullptr) == 0);
  CHECK(cuptiActivityPopExternalCorrelationId(custom0, nullptr) == 0);
  CHECK(cuptiActivityPopExternalCorrelationId(custom0, nullptr) != 0);
  CHECK(cuptiActivityFlushAll(0) == 0);
  CHECK(completed.size() > 1);
  std::size_t linked = 0;
  for (const Buffer& buffer : completed) {
    std::uint32_t known = 0;
    std::uint8_t* record = nullptr;
    while (cuptiActivityGetNextRecord(buffer.data, buffer.valid, &record) == 0) {
      std::uint32_t kind = 0;
      std::memcpy(&kind, record, sizeof kind);
      if (kind == kind_external_correlation) known = reinterpret_cast<ExternalRecord*>(record)->correlation_id;
      if (kind == kind_memset) linked += reinterpret_cast<MemsetRecord*>(record)->correlation_id == known ? 1 : 0;
    }
  }
  CHECK(linked == 200);
  forget();
}

/// A stream that waits for an event starts no earlier.
void check_streams(void* memory) {
  void *side = nullptr, *event = nullptr;
  CHECK(cudaStreamCreate(&side) == 0 && cudaEventCreate(&event) == 0);
  CHECK(cudaMemsetAsync(memory, 0, 64 * mebibyte, nullptr) == 0);
  CHECK(cudaEventRecord(event, nullptr) == 0 && cudaStreamWaitEvent(side, event, 0) == 0);
  CHECK(cudaMemsetAsync(memory, 0, 1024, side) == 0 && cudaDeviceSynchronize() == 0);
  CHECK(cuptiActivityFlushAll(0) == 0);
  const auto fills = records<MemsetRecord>(kind_memset);
  CHECK(fills.size() == 2 && fills[1].start >= fills[0].end && fills[1].stream_id != fills[0].stream_id);
  forget();
}

void check_threads(void* memory) {
  const auto work = [memory] {
    for (int i = 0; i < 100; ++i) cudaMemsetAsync(memory, 0, 1024, nullptr);
  };
  std::thread other(work);
  work();
  other.join();
  CHECK(cuptiActivityFlushAll(0) == 0);
  CHECK(records<MemsetRecord>(kind_memset).size() == 200);
  const auto calls = records<ApiRecord>(kind_runtime);
  CHECK(calls.size() == 200);
  bool differ = false;
  for (const ApiRecord& call : calls) differ = differ || call.thread_id != calls[0].thread_id;
  CHECK(differ);
  forget();
}

void check_switches(void* memory) {
  CHECK(cuptiActivityEnableRuntimeApi(51, 0) == 0);
  CHECK(cudaMemsetAsync(memory, 0, 1024, nullptr) == 0 && cuptiActivityFlushAll(0) == 0);
  CHECK(records<ApiRecord>(kind_runtime).empty() && records<MemsetRecord>(kind_memset).size() == 1);
  forget();
  switch_all(false);
  const int before = requested;
  CHECK(cudaMemsetAsync(memory, 0, 1024, nullptr) == 0 && cuptiActivityFlushAll(0) == 0);
  CHECK(completed.empty() && requested == before);
}

}  // namespace

int main() {
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64 * mebibyte) == 0);
  CHECK(cuptiActivityRegisterTimestampCallback(ticks_now) == 0);
  CHECK(cuptiActivityRegisterCallbacks(request, complete) == 0);
  switch_all(true);
  check_work(memory);
  check_external_ids(memory);
  check_streams(memory);
  check_threads(memory);
  check_switches(memory);
  CHECK(cudaFree(memory) == 0);
  return 0;
}
