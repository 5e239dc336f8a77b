// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface: descriptors keep what was set, the heuristics offer one engine that needs no workspace, and
// an execution is device work whose size follows from the tensors of the graph.
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "virtual_gpu/cudnn/context.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::cudnn;

namespace {

enum Type : int {
  tensor_type = 17, operation_matmul = 19, operation_conv_first = 10, operation_conv_last = 12,
  operation_sdpa_forward = 41, operation_sdpa_backward = 43
};

enum Name : int {
  heur_graph = 201, heur_results = 202,
  config_engine = 300, config_workspace = 303, config_shared_memory = 304,
  plan_config = 401, plan_workspace = 402,
  graph_operations = 801,
  tensor_data_type = 901, tensor_dimensions = 902, tensor_is_virtual = 907,
  engine_graph = 1300, engine_index = 1301
};

constexpr int backend_descriptor = 15;  // CUDNN_TYPE_BACKEND_DESCRIPTOR

struct Attribute {
  int type = 0;
  std::int64_t count = 0;
  std::vector<std::uint8_t> bytes;
};

struct Descriptor {
  int type = 0;
  bool finalised = false;
  std::map<int, Attribute> attributes;
};

HandleTable<Descriptor>& descriptors() { return handles<Descriptor>(); }

std::size_t bytes_of_type(int type) {
  switch (type) {
    case 0: case 3: case 5: case 6: case 15: return 8;  // handle, int64, double, pointer, descriptor
    case 26: return 16;                                 // fraction
    case 2: case 24: return 1;                                  // boolean, char
    default: return 4;                                          // enumerations, float, int32
  }
}

Descriptor copy_of(const void* handle) {
  Descriptor result;
  descriptors().with(handle, [&](Descriptor& found) { result = found; });
  return result;
}

template <class T>
std::vector<T> values(const Descriptor& descriptor, int name) {
  const auto found = descriptor.attributes.find(name);
  if (found == descriptor.attributes.end()) return {};
  std::vector<T> result(found->second.bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), found->second.bytes.data(), result.size() * sizeof(T));
  return result;
}

Attribute one_pointer(void* value) {
  Attribute result{backend_descriptor, 1, std::vector<std::uint8_t>(sizeof value)};
  std::memcpy(result.bytes.data(), &value, sizeof value);
  return result;
}

template <class T>
int answer(T value, std::int64_t requested, std::int64_t* count, void* out) {
  if (count != nullptr) *count = 1;
  if (out != nullptr && requested > 0) std::memcpy(out, &value, sizeof value);
  return success;
}

/// The caller brings the descriptors that a query for descriptors fills in: hand the graph on to them.
int fill_descriptor(void* source, int graph_from, int graph_to, std::int64_t requested, std::int64_t* count, void* out) {
  if (count != nullptr) *count = 1;
  if (out == nullptr || requested < 1) return success;
  const auto graph = values<void*>(copy_of(source), graph_from);
  void* target = nullptr;
  std::memcpy(&target, out, sizeof target);
  descriptors().with(target, [&](Descriptor& found) {
    found.finalised = true;
    if (!graph.empty()) found.attributes[graph_to] = one_pointer(graph.front());
  });
  return success;
}

int stored(const Descriptor& descriptor, int name, std::int64_t requested, std::int64_t* count, void* out) {
  const auto found = descriptor.attributes.find(name);
  const std::int64_t held = found == descriptor.attributes.end() ? 0 : found->second.count;
  if (count != nullptr) *count = held;
  if (out == nullptr || requested < 1 || held < 1) return success;
  const auto element = found->second.bytes.size() / static_cast<std::size_t>(held);
  const auto wanted = static_cast<std::size_t>(requested < held ? requested : held);
  std::memcpy(out, found->second.bytes.data(), element * wanted);
  return success;
}

struct Tensor {
  std::vector<std::int64_t> dimensions;
  double elements = 1;
  double bytes = 0;  ///< 0 for a virtual one
};

Tensor tensor_of(const Descriptor& descriptor) {
  Tensor result;
  result.dimensions = values<std::int64_t>(descriptor, tensor_dimensions);
  for (const std::int64_t length : result.dimensions) result.elements *= static_cast<double>(length);
  const auto is_virtual = values<std::uint8_t>(descriptor, tensor_is_virtual);
  const auto type = values<std::int32_t>(descriptor, tensor_data_type);
  if (is_virtual.empty() || is_virtual.front() == 0) {
    result.bytes = result.elements * static_cast<double>(element_bytes(type.empty() ? 0 : type.front()));
  }
  return result;
}

/// 2 x the product of the output's elements with the summed dimension.
double matmul_flops(const std::map<int, Tensor>& tensors) {
  const auto a = tensors.find(1520), c = tensors.find(1522);
  if (a == tensors.end() || c == tensors.end() || a->second.dimensions.empty()) return 0;
  return 2 * c->second.elements * static_cast<double>(a->second.dimensions.back());
}

/// Forward, input and weight gradient of a convolution do the same products: y elements x weights per output channel.
double convolution_flops(int type, const std::map<int, Tensor>& tensors) {
  // forward 703 W 704 X 705 Y; backward filter and data number theirs in their own order, so go by the rank's content.
  if (type != operation_conv_first) return 0;
  const auto w = tensors.find(703), y = tensors.find(705);
  if (w == tensors.end() || y == tensors.end() || w->second.dimensions.empty() || w->second.dimensions.front() == 0)
    return 0;
  return 2 * y->second.elements * w->second.elements / static_cast<double>(w->second.dimensions.front());
}

/// q [b, h, s, d], k [b, h, t, d]: two products of s x t x d forward, five backward.
double attention_flops(int type, const std::map<int, Tensor>& tensors) {
  const bool forward = type == operation_sdpa_forward;
  const auto q = tensors.find(forward ? 2800 : 2851), k = tensors.find(forward ? 2801 : 2852);
  if (q == tensors.end() || k == tensors.end() || k->second.dimensions.size() < 3) return 0;
  return (forward ? 4 : 10) * q->second.elements * static_cast<double>(k->second.dimensions[2]);
}

double flops_of(int type, const std::map<int, Tensor>& tensors) {
  if (type == operation_matmul) return matmul_flops(tensors);
  if (type >= operation_conv_first && type <= operation_conv_last) return convolution_flops(type, tensors);
  if (type == operation_sdpa_forward || type == operation_sdpa_backward) return attention_flops(type, tensors);
  return 0;
}

/// Adds one operation; a tensor that several operations touch counts once.
void add_operation(const void* handle, std::set<void*>* seen, Work* work) {
  const Descriptor operation = copy_of(handle);
  std::map<int, Tensor> tensors;
  for (const auto& [name, attribute] : operation.attributes) {
    if (attribute.type != backend_descriptor) continue;
    for (void* pointer : values<void*>(operation, name)) {
      const Descriptor descriptor = copy_of(pointer);
      if (descriptor.type != tensor_type) continue;
      tensors[name] = tensor_of(descriptor);
      if (seen->insert(pointer).second) work->bytes += tensors[name].bytes;
    }
  }
  work->flops += flops_of(operation.type, tensors);
}

void* pointer_of(const void* handle, int name) {
  const auto found = values<void*>(copy_of(handle), name);
  return found.empty() ? nullptr : found.front();
}

Work work_of_plan(const void* plan) {
  Work work;
  work.kind = Work::Kind::kernel;
  const void* config = pointer_of(plan, plan_config);
  const void* graph = pointer_of(config, heur_graph);
  if (graph == nullptr) graph = pointer_of(pointer_of(config, config_engine), engine_graph);
  std::set<void*> seen;
  for (void* operation : values<void*>(copy_of(graph), graph_operations)) add_operation(operation, &seen, &work);
  return work;
}

}  // namespace

extern "C" {

int cudnnBackendCreateDescriptor(int type, void** descriptor) {
  if (descriptor == nullptr) return bad_param_null;
  *descriptor = descriptors().create(Descriptor{type, false, {}});
  return success;
}

int cudnnBackendDestroyDescriptor(void* descriptor) { return descriptors().destroy(descriptor) ? success : bad_param; }

int cudnnBackendInitialize(void* descriptor) {
  return descriptors().with(descriptor, [](Descriptor&) {}) ? success : bad_param;
}

int cudnnBackendFinalize(void* descriptor) {
  return descriptors().with(descriptor, [](Descriptor& found) { found.finalised = true; }) ? success : bad_param;
}

int cudnnBackendSetAttribute(void* descriptor, int name, int type, std::int64_t count, const void* elements) {
  if (count < 0 || (elements == nullptr && count > 0)) return bad_param;
  Attribute attribute{type, count, {}};
  const auto* first = static_cast<const std::uint8_t*>(elements);
  if (count > 0) attribute.bytes.assign(first, first + static_cast<std::size_t>(count) * bytes_of_type(type));
  const bool known = descriptors().with(descriptor, [&](Descriptor& found) { found.attributes[name] = attribute; });
  return known ? success : bad_param;
}

int cudnnBackendGetAttribute(void* descriptor, int name, int /*type*/, std::int64_t requested, std::int64_t* count,
                             void* out) {
  if (!descriptors().with(descriptor, [](Descriptor&) {})) return bad_param;
  switch (name) {
    case heur_results: return fill_descriptor(descriptor, heur_graph, heur_graph, requested, count, out);
    case config_engine: return fill_descriptor(descriptor, heur_graph, engine_graph, requested, count, out);
    case config_workspace:
    case plan_workspace:
    case engine_index: return answer<std::int64_t>(0, requested, count, out);
    case config_shared_memory: return answer<std::int32_t>(0, requested, count, out);
    default: return stored(copy_of(descriptor), name, requested, count, out);
  }
}

int cudnnBackendExecute(void* handle, void* plan, void* /*variant_pack*/) {
  if (!handles<Context>().with(handle, [](Context&) {})) return not_initialized;
  ullage_machine()->submit(work_of_plan(plan), stream_of(handle));
  return success;
}

}  // extern "C"
