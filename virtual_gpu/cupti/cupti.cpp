// SPDX-License-Identifier: Apache-2.0
// The profiling interface of CUDA: subscription, the switches of the activity interface, and reading its buffers. Of
// callbacks nothing is delivered; what is measured is in recorder.hpp.
#include <atomic>
#include <cstddef>

#include "virtual_gpu/cupti/recorder.hpp"
#include "virtual_gpu/device/machine.hpp"

namespace {

using namespace ullage::vgpu::cupti;
using ullage::vgpu::ApiCall;

enum Result : int {
  success = 0,
  invalid_parameter = 1,
  max_limit_reached = 12,
  queue_empty = 18,
  multiple_subscribers = 39
};

std::atomic<void*> subscriber{nullptr};

}  // namespace

extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
  if (version == nullptr) return invalid_parameter;
  *version = 130001;
  return success;
}

int cuptiGetResultString(int result, const char** text) {
  if (text == nullptr) return invalid_parameter;
  *text = result == success             ? "CUPTI_SUCCESS"
          : result == max_limit_reached ? "CUPTI_ERROR_MAX_LIMIT_REACHED"
                                        : "CUPTI_ERROR";
  return success;
}

int cuptiSubscribe(void** out, void* /*callback*/, void* /*user_data*/) {
  if (out == nullptr) return invalid_parameter;
  void* none = nullptr;
  void* handle = reinterpret_cast<void*>(ullage_machine()->new_handle());
  if (!subscriber.compare_exchange_strong(none, handle)) return multiple_subscribers;
  *out = handle;
  return success;
}

int cuptiUnsubscribe(void* handle) {
  return handle != nullptr && subscriber.compare_exchange_strong(handle, nullptr) ? success : invalid_parameter;
}

int cuptiFinalize() {
  subscriber = nullptr;
  for (std::uint32_t kind = 0; kind < kind_limit; ++kind) recorder().enable(kind, false);
  return success;
}

int cuptiGetTimestamp(std::uint64_t* timestamp) {
  if (timestamp == nullptr) return invalid_parameter;
  *timestamp = recorder().now_ticks();
  return success;
}

int cuptiActivityRegisterCallbacks(RequestBuffer request, CompleteBuffer complete) {
  if (request == nullptr || complete == nullptr) return invalid_parameter;
  recorder().set_callbacks(request, complete);
  return success;
}

int cuptiActivityRegisterTimestampCallback(TimestampCallback callback) {
  if (callback == nullptr) return invalid_parameter;
  recorder().set_timestamp_callback(callback);
  return success;
}

int cuptiActivityEnable(std::uint32_t kind) {
  recorder().enable(kind, true);
  return success;
}

int cuptiActivityDisable(std::uint32_t kind) {
  recorder().enable(kind, false);
  return success;
}

int cuptiActivityEnableRuntimeApi(std::uint32_t number, std::uint8_t on) {
  recorder().enable_api(ApiCall{false, number}, on != 0);
  return success;
}

int cuptiActivityEnableDriverApi(std::uint32_t number, std::uint8_t on) {
  recorder().enable_api(ApiCall{true, number}, on != 0);
  return success;
}

int cuptiActivityFlushAll(std::uint32_t) {
  recorder().flush();
  return success;
}

/// `record` is the one before, or null for the first.
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid_bytes, std::uint8_t** record) {
  if (buffer == nullptr || record == nullptr) return invalid_parameter;
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = *record + record_bytes(*reinterpret_cast<const std::uint32_t*>(*record));
  if (next == *record || next >= buffer + valid_bytes) return max_limit_reached;
  *record = next;
  return success;
}

int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  if (dropped == nullptr) return invalid_parameter;
  *dropped = recorder().take_dropped();
  return success;
}

int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  if (kind >= Recorder::external_kinds) return invalid_parameter;
  Recorder::push_external(kind, id);
  return success;
}

int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last) {
  std::uint64_t id = 0;
  const bool popped = Recorder::pop_external(kind, &id);
  if (last != nullptr) *last = id;
  return popped ? success : queue_empty;
}

// Accepted without an effect, and of no interest to the list of stubs that were called.
int cuptiEnableCallback(std::uint32_t, void*, int, std::uint32_t) {
  return success;
}
int cuptiEnableDomain(std::uint32_t, void*, int) {
  return success;
}
int cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) {
  return success;
}
int cuptiActivitySetAttribute(int, std::size_t*, void*) {
  return success;
}

}  // extern "C"
