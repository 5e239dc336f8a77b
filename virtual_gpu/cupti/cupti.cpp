// SPDX-License-Identifier: Apache-2.0
// The profiling interface: it can be loaded, subscribed to and switched on, and delivers no records yet.
#include <atomic>
#include <cstddef>

#include "virtual_gpu/device/machine.hpp"

namespace {

enum Result : int { success = 0, invalid_parameter = 1, max_limit_reached = 12, multiple_subscribers = 39 };

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
  return success;
}

int cuptiGetTimestamp(std::uint64_t* timestamp) {
  if (timestamp == nullptr) return invalid_parameter;
  *timestamp = ullage_machine()->host_time_ns();
  return success;
}

int cuptiActivityGetNextRecord(std::uint8_t*, std::size_t, void**) {
  return max_limit_reached;
}

int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  if (dropped == nullptr) return invalid_parameter;
  *dropped = 0;
  return success;
}

int cuptiActivityPopExternalCorrelationId(int /*kind*/, std::uint64_t* last) {
  if (last != nullptr) *last = 0;
  return success;
}

// Accepted without an effect, and of no interest to the list of stubs that were called.
int cuptiEnableCallback(std::uint32_t, void*, int, std::uint32_t) {
  return success;
}
int cuptiEnableDomain(std::uint32_t, void*, int) {
  return success;
}
int cuptiActivityEnable(int) {
  return success;
}
int cuptiActivityDisable(int) {
  return success;
}
int cuptiActivityEnableRuntimeApi(std::uint32_t, std::uint8_t) {
  return success;
}
int cuptiActivityEnableDriverApi(std::uint32_t, std::uint8_t) {
  return success;
}
int cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) {
  return success;
}
int cuptiActivityRegisterCallbacks(void*, void*) {
  return success;
}
int cuptiActivityRegisterTimestampCallback(void*) {
  return success;
}
int cuptiActivityFlushAll(std::uint32_t) {
  return success;
}
int cuptiActivityPushExternalCorrelationId(int, std::uint64_t) {
  return success;
}
int cuptiActivitySetAttribute(int, std::size_t*, void*) {
  return success;
}

}  // extern "C"
