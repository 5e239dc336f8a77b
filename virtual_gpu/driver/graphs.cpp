// SPDX-License-Identifier: Apache-2.0
// Stream capture and graphs. A graph's handle is its number; an instantiated graph is the graph itself.
#include "virtual_gpu/driver/driver.hpp"

namespace ullage::vgpu {
namespace {

constexpr std::uintptr_t graph_handle_base = 0x7ab3'0000'0000;

void* graph_handle(std::uint64_t graph) {
  return reinterpret_cast<void*>(graph_handle_base + graph * 0x40);
}

std::uint64_t graph_id(const void* handle) {
  return (reinterpret_cast<std::uintptr_t>(handle) - graph_handle_base) / 0x40;
}

int capture_info(void* stream, int* status, unsigned long long* id, void** graph) {
  std::uint64_t capture = 0, number = 0;
  const CaptureState state = machine().capture_state(stream_id(stream), &capture, &number);
  if (status) *status = static_cast<int>(state);
  if (id) *id = capture;
  if (graph) *graph = state == CaptureState::none ? nullptr : graph_handle(number);
  return cu_success;
}

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" {

int cuStreamBeginCapture_v2(void* stream, int mode) {
  return to_cu(machine().begin_capture(stream_id(stream), mode, 0));
}

int cuStreamBeginCaptureToGraph(void* stream, void* graph, const void*, const void*, std::size_t, int mode) {
  return to_cu(machine().begin_capture(stream_id(stream), mode, graph_id(graph)));
}

int cuStreamEndCapture(void* stream, void** graph) {
  std::uint64_t number = 0;
  const int result = to_cu(machine().end_capture(stream_id(stream), &number));
  *graph = result == cu_success ? graph_handle(number) : nullptr;
  return result;
}

int cuStreamIsCapturing(void* stream, int* status) {
  return capture_info(stream, status, nullptr, nullptr);
}

int cuStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph,
                              const void** dependencies, std::size_t* count) {
  if (dependencies) *dependencies = nullptr;
  if (count) *count = 0;
  return capture_info(stream, status, id, graph);
}

int cuStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id, void** graph,
                              const void** dependencies, const void** edges, std::size_t* count) {
  if (edges) *edges = nullptr;
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

int cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  const int previous = current;
  current = *mode;
  *mode = previous;
  return cu_success;
}

int cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  *executable = graph;
  return cu_success;
}

int cuGraphLaunch(void* graph, void* stream) {
  return to_cu(machine().launch_graph(graph_id(graph), stream_id(stream)));
}
int cuGraphUpload(void*, void*) {
  return cu_success;
}
int cuGraphDestroy(void*) {
  return cu_success;
}
int cuGraphExecDestroy(void*) {
  return cu_success;
}

int cuGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  if (nodes)
    for (std::size_t i = 0; i < *count; ++i) nodes[i] = graph;
  *count = machine().graph_node_count(graph_id(graph));
  return cu_success;
}

}  // extern "C"
