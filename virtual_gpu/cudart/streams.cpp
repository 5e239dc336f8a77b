// SPDX-License-Identifier: Apache-2.0
// Streams, events, capture, graphs: the driver's functions with the runtime's error codes. Handles are the same.
#include "virtual_gpu/cudart/cudart.hpp"
#include "virtual_gpu/device/api_scope.hpp"

extern "C" {
int cuStreamIsCapturing(void*, int*);
int cuStreamBeginCaptureToGraph(void*, void*, const void*, const void*, std::size_t, int);
int cuStreamEndCapture(void*, void**);
int cuStreamGetCaptureInfo_v3(void*, int*, unsigned long long*, void**, const void**, const void**, std::size_t*);
int cuThreadExchangeStreamCaptureMode(int*);
int cuGraphLaunch(void*, void*);
int cuGraphGetNodes(void*, void**, std::size_t*);
int cuLaunchHostFunc(void*, void (*)(void*), void*);
}

using namespace ullage::vgpu;

extern "C" {

int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  *stream = stream_handle(machine().create_stream(flags, priority));
  return rt_success;
}

int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
int cudaStreamCreate(void** stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
int cudaStreamDestroy(void* stream) {
  return rt(machine().destroy_stream(stream_id(stream)));
}
int cudaStreamQuery(void* stream) {
  const ApiScope scope(runtime_api::stream_query);
  return rt(machine().query_stream(stream_id(stream)));
}

int cudaStreamSynchronize(void* stream) {
  const ApiScope scope(runtime_api::stream_synchronize);
  return rt(machine().synchronize_stream(stream_id(stream), "cudaStreamSynchronize"));
}

int cudaStreamWaitEvent(void* stream, void* event, unsigned) {
  const ApiScope scope(runtime_api::stream_wait_event);
  return rt(machine().wait_event(stream_id(stream), event_id(event)));
}

int cudaStreamGetPriority(void* stream, int* priority) {
  return rt(machine().stream_properties(stream_id(stream), nullptr, priority));
}

int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return rt(machine().stream_properties(stream_id(stream), flags, nullptr));
}

int cudaStreamGetId(void* stream, unsigned long long* id) {
  *id = stream_id(stream);
  return rt_success;
}

int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return last_error(cuLaunchHostFunc(stream, function, data));
}

int cudaStreamAddCallback(void* stream, void (*callback)(void*, int, void*), void* data, unsigned) {
  callback(stream, rt_success, data);
  return rt_success;
}

int cudaEventCreateWithFlags(void** event, unsigned flags) {
  *event = reinterpret_cast<void*>(machine().create_event(flags));
  return rt_success;
}

int cudaEventCreate(void** event) {
  return cudaEventCreateWithFlags(event, 0);
}
int cudaEventDestroy(void* event) {
  return rt(machine().destroy_event(event_id(event)));
}
int cudaEventRecord(void* event, void* stream) {
  const ApiScope scope(runtime_api::event_record);
  return rt(machine().record_event(event_id(event), stream_id(stream)));
}
int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  const ApiScope scope(runtime_api::event_record_with_flags);
  return cudaEventRecord(event, stream);
}
int cudaEventQuery(void* event) {
  const ApiScope scope(runtime_api::event_query);
  return rt(machine().query_event(event_id(event)));
}
int cudaEventSynchronize(void* event) {
  const ApiScope scope(runtime_api::event_synchronize);
  return rt(machine().synchronize_event(event_id(event), "cudaEventSynchronize"));
}
int cudaEventElapsedTime(float* ms, void* start, void* end) {
  const ApiScope scope(runtime_api::event_elapsed_time);
  return rt(machine().elapsed_ms(event_id(start), event_id(end), ms));
}

int cudaStreamIsCapturing(void* stream, int* status) {
  return last_error(cuStreamIsCapturing(stream, status));
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id, void** graph, const void** dependencies,
                             const void** edges, std::size_t* count) {
  return last_error(cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count));
}

int cudaStreamBeginCapture(void* stream, int mode) {
  return rt(machine().begin_capture(stream_id(stream), mode, 0));
}

int cudaStreamBeginCaptureToGraph(void* stream, void* graph, const void* dependencies, const void* edges,
                                  std::size_t count, int mode) {
  return last_error(cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges, count, mode));
}

int cudaStreamEndCapture(void* stream, void** graph) {
  return last_error(cuStreamEndCapture(stream, graph));
}
int cudaThreadExchangeStreamCaptureMode(int* mode) {
  return last_error(cuThreadExchangeStreamCaptureMode(mode));
}

int cudaGraphInstantiate(void** executable, void* graph, unsigned long long) {
  *executable = graph;
  return rt_success;
}

int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

int cudaGraphLaunch(void* graph, void* stream) {
  const ApiScope scope(runtime_api::graph_launch);
  return last_error(cuGraphLaunch(graph, stream));
}
int cudaGraphUpload(void*, void*) {
  return rt_success;
}
int cudaGraphDestroy(void*) {
  return rt_success;
}
int cudaGraphExecDestroy(void*) {
  return rt_success;
}
int cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  return last_error(cuGraphGetNodes(graph, nodes, count));
}

}  // extern "C"
