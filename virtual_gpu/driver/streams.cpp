// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "virtual_gpu/device/api_scope.hpp"
#include "virtual_gpu/driver/driver.hpp"

using namespace ullage::vgpu;

extern "C" {

int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  *stream = stream_handle(machine().create_stream(flags, priority));
  return cu_success;
}

int cuStreamCreate(void** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
int cuStreamDestroy_v2(void* stream) {
  return to_cu(machine().destroy_stream(stream_id(stream)));
}
int cuStreamQuery(void* stream) {
  return to_cu(machine().query_stream(stream_id(stream)));
}

int cuStreamSynchronize(void* stream) {
  const ApiScope scope(driver_api::stream_synchronize);
  return to_cu(machine().synchronize_stream(stream_id(stream), "cuStreamSynchronize"));
}

int cuStreamWaitEvent(void* stream, void* event, unsigned) {
  return to_cu(machine().wait_event(stream_id(stream), event_id(event)));
}

int cuStreamGetPriority(void* stream, int* priority) {
  return to_cu(machine().stream_properties(stream_id(stream), nullptr, priority));
}

int cuStreamGetFlags(void* stream, unsigned* flags) {
  return to_cu(machine().stream_properties(stream_id(stream), flags, nullptr));
}

int cuStreamGetCtx(void*, void** context) {
  *context = primary_context();
  return cu_success;
}

int cuStreamGetDevice(void*, int* device) {
  *device = 0;
  return cu_success;
}

int cuStreamGetId(void* stream, unsigned long long* id) {
  *id = stream_id(stream);
  return cu_success;
}

int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  machine().submit({Work::Kind::other, 0, 0, 0, Direction::device_to_device}, stream_id(stream),
                   "simulated_host_function");
  function(data);
  return cu_success;
}

int cuEventCreate(void** event, unsigned flags) {
  *event = reinterpret_cast<void*>(machine().create_event(flags));
  return cu_success;
}

int cuEventDestroy_v2(void* event) {
  return to_cu(machine().destroy_event(event_id(event)));
}

int cuEventRecord(void* event, void* stream) {
  return to_cu(machine().record_event(event_id(event), stream_id(stream)));
}

int cuEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cuEventRecord(event, stream);
}
int cuEventQuery(void* event) {
  return to_cu(machine().query_event(event_id(event)));
}

int cuEventSynchronize(void* event) {
  return to_cu(machine().synchronize_event(event_id(event), "cuEventSynchronize"));
}

int cuEventElapsedTime_v2(float* ms, void* start, void* end) {
  return to_cu(machine().elapsed_ms(event_id(start), event_id(end), ms));
}

int cuEventElapsedTime(float* ms, void* start, void* end) {
  return cuEventElapsedTime_v2(ms, start, end);
}

}  // extern "C"
