// SPDX-License-Identifier: Apache-2.0
// Descriptors of cuDNN's graph interface: they keep what was set, and what a finalised graph comes to.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "virtual_gpu/cudnn/context.hpp"
#include "virtual_gpu/device/workspace_range.hpp"

namespace ullage::vgpu::cudnn {

enum DescriptorType : int {
  convolution_type = 1,
  engine_type = 2,
  config_type = 3,
  heuristics_type = 4,
  plan_type = 5,
  operation_conv_forward = 10,
  operation_conv_backward_filter = 11,
  operation_conv_backward_data = 12,
  graph_type = 15,
  tensor_type = 17,
  operation_matmul = 19,
  operation_sdpa_forward = 41,
  operation_sdpa_backward = 43
};

enum AttributeName : int {
  convolution_dilations = 102,
  convolution_strides = 103,
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
  tensor_strides = 903,
  tensor_is_virtual = 907,
  engine_graph = 1300,
  engine_index = 1301
};

inline constexpr int backend_descriptor = 15;  // CUDNN_TYPE_BACKEND_DESCRIPTOR

struct Attribute {
  int type = 0;
  std::int64_t count = 0;
  std::vector<std::uint8_t> bytes;
};

/// What an execution of a graph is.
struct GraphWork {
  Work work;
  WorkspaceRange workspace;
  const char* kernel = "simulated_cudnn_graph";  ///< name for a profiler
  const char* purpose = "cuDNN graph";           ///< name for the list of workspaces
};

struct Descriptor {
  int type = 0;
  GraphWork work;  ///< of a finalised graph, and of the heuristics, engine, configuration and plan made from it
  std::map<int, Attribute> attributes;
};

inline HandleTable<Descriptor>& descriptors() {
  return handles<Descriptor>();
}

/// A copy; an empty one for a handle that is not known.
Descriptor copy_of(const void* handle);

template <class T>
std::vector<T> values(const Descriptor& descriptor, int name) {
  const auto found = descriptor.attributes.find(name);
  if (found == descriptor.attributes.end()) return {};
  std::vector<T> result(found->second.bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), found->second.bytes.data(), result.size() * sizeof(T));
  return result;
}

/// What the operations of a graph come to.
GraphWork work_of_graph(const Descriptor& graph);

}  // namespace ullage::vgpu::cudnn
