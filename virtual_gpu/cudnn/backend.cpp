// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface: descriptors keep what was set, the heuristics offer an engine with the workspace that is
// likely and behind it one that needs none, and an execution is device work whose size follows from the tensors of the
// graph.
#include <algorithm>
#include <cstring>

#include "virtual_gpu/cudnn/graph.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::cudnn;

namespace {

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

GraphWork work_of(const void* handle) {
  GraphWork result;
  descriptors().with(handle, [&](Descriptor& found) { result = found.work; });
  return result;
}

template <class T>
int answer(T value, std::int64_t requested, std::int64_t* count, void* out) {
  if (count != nullptr) *count = 1;
  if (out != nullptr && requested > 0) std::memcpy(out, &value, sizeof value);
  return success;
}

/// The caller brings the descriptors that a query for descriptors fills in. The heuristics have a second answer, for a
/// caller whose memory the first one's workspace does not fit.
int fill_descriptors(void* source, int name, std::int64_t requested, std::int64_t* count, void* out) {
  GraphWork work = work_of(source);
  const std::int64_t found = name == heur_results && work.workspace.likely > 0 ? 2 : 1;
  // A question for the number brings no descriptors; else it is that of the descriptors filled in (torch 2.15 relies on
  // it).
  if (count != nullptr) *count = out == nullptr ? found : std::min(found, requested);
  if (out == nullptr) return success;
  for (std::int64_t i = 0; i < std::min(found, requested); ++i) {
    void* target = nullptr;
    std::memcpy(&target, static_cast<void**>(out) + i, sizeof target);
    descriptors().with(target, [&](Descriptor& each) { each.work = work; });
    work.workspace = {};
  }
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

/// The work of a descriptor is known when it is finalised: what it was made from may be gone when the plan runs.
GraphWork work_at_finalisation(const Descriptor& descriptor) {
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
  const GraphWork work = work_at_finalisation(copy_of(descriptor));
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
      return fill_descriptors(descriptor, name, requested, count, out);
    case config_workspace:
    case plan_workspace:
      return answer<std::int64_t>(static_cast<std::int64_t>(bytes_to_ask(work_of(descriptor).workspace)), requested,
                                  count, out);
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
  const GraphWork work = work_of(plan);
  ullage_machine()->submit(work.work, stream_of(handle), work.kernel);
  ullage_machine()->use_workspace(work.purpose, work.workspace);
  return success;
}

}  // extern "C"
