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
  engine_type = 2,
  config_type = 3,
  heuristics_type = 4,
  plan_type = 5,
  graph_type = 15,
  tensor_type = 17,
  operation_matmul = 19,
  operation_conv_first = 10,
  operation_conv_last = 12,
  operation_sdpa_forward = 41,
  operation_sdpa_backward = 43
};

enum Name : int {
  heur_graph = 201,
  heur_results = 202,
  config_engine = 300,
  config_workspace = 303,
  config_shared_memory = 304,
  plan_config = 401,
  plan_workspace = 402,
  graph_operations = 801,
  tensor_data_type = 901,
  tensor_dimensions = 902,
  tensor_is_virtual = 907,
  engine_graph = 1300,
  engine_index = 1301
};

constexpr int backend_descriptor = 15;  // CUDNN_TYPE_BACKEND_DESCRIPTOR

struct Attribute {
  int type = 0;
  std::int64_t count = 0;
  std::vector<std::uint8_t> bytes;
};

struct Descriptor {
  int type = 0;
  Work work;  ///< of a finalised graph, and of the heuristics, engine, configuration and plan made from it
  std::map<int, Attribute> attributes;
};

HandleTable<Descriptor>& descriptors() {
  return handles<Descriptor>();
}

std::size_t bytes_of_type(int type) {
  switch (type) {
    case 0:
    case 3:
    case 5:
    case 6:
    case 15:
      return 8;  // handle, int64, double, pointer, descriptor
    case 26:
      return 16;  // fraction
    case 2:
    case 24:
      return 1;  // boolean, char
    default:
      return 4;  // enumerations, float, int32
  }
}

Descriptor copy_of(const void* handle) {
  Descriptor result;
  descriptors().with(handle, [&](Descriptor& found) { result = found; });
  return result;
}

Work work_of(const void* handle) {
  Work result;
  descriptors().with(handle, [&](Descriptor& found) { result = found.work; });
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

template <class T>
int answer(T value, std::int64_t requested, std::int64_t* count, void* out) {
  if (count != nullptr) *count = 1;
  if (out != nullptr && requested > 0) std::memcpy(out, &value, sizeof value);
  return success;
}

/// The caller brings the descriptors that a query for descriptors fills in.
int fill_descriptor(void* source, std::int64_t requested, std::int64_t* count, void* out) {
  if (count != nullptr) *count = 1;
  if (out == nullptr || requested < 1) return success;
  void* target = nullptr;
  std::memcpy(&target, out, sizeof target);
  const Work work = work_of(source);
  descriptors().with(target, [&](Descriptor& found) { found.work = work; });
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

/// Forward, input and weight gradient do the same products: y elements x weights per output channel.
double convolution_flops(int type, const std::map<int, Tensor>& tensors) {
  constexpr int weights[] = {703, 715, 709}, outputs[] = {705, 717, 711};  // forward, weight and input gradient
  const int form = type - operation_conv_first;
  const auto w = tensors.find(weights[form]), y = tensors.find(outputs[form]);
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

Work work_of_graph(const Descriptor& graph) {
  Work work;
  work.kind = Work::Kind::kernel;
  std::set<void*> seen;
  for (void* operation : values<void*>(graph, graph_operations)) add_operation(operation, &seen, &work);
  return work;
}

/// The work of a descriptor is known when it is finalised: what it was made from may be gone when the plan runs.
Work work_at_finalisation(const Descriptor& descriptor) {
  int origin = 0;
  switch (descriptor.type) {
    case graph_type:
      return work_of_graph(descriptor);
    case heuristics_type:
      origin = heur_graph;
      break;
    case engine_type:
      origin = engine_graph;
      break;
    case config_type:
      origin = config_engine;
      break;
    case plan_type:
      origin = plan_config;
      break;
    default:
      return {};
  }
  const auto made_from = values<void*>(descriptor, origin);
  return made_from.empty() ? descriptor.work : work_of(made_from.front());
}

}  // namespace

extern "C" {

int cudnnBackendCreateDescriptor(int type, void** descriptor) {
  if (descriptor == nullptr) return bad_param_null;
  *descriptor = descriptors().create(Descriptor{type, {}, {}});
  return success;
}

int cudnnBackendDestroyDescriptor(void* descriptor) {
  return descriptors().destroy(descriptor) ? success : bad_param;
}

int cudnnBackendInitialize(void* descriptor) {
  return descriptors().with(descriptor, [](Descriptor&) {}) ? success : bad_param;
}

int cudnnBackendFinalize(void* descriptor) {
  const Work work = work_at_finalisation(copy_of(descriptor));
  return descriptors().with(descriptor, [&](Descriptor& found) { found.work = work; }) ? success : bad_param;
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
    case heur_results:
    case config_engine:
      return fill_descriptor(descriptor, requested, count, out);
    case config_workspace:
    case plan_workspace:
    case engine_index:
      return answer<std::int64_t>(0, requested, count, out);
    case config_shared_memory:
      return answer<std::int32_t>(0, requested, count, out);
    default:
      return stored(copy_of(descriptor), name, requested, count, out);
  }
}

int cudnnBackendExecute(void* handle, void* plan, void* /*variant_pack*/) {
  if (!handles<Context>().with(handle, [](Context&) {})) return not_initialized;
  ullage_machine()->submit(work_of(plan), stream_of(handle), "simulated_cudnn_graph");
  return success;
}

}  // extern "C"
