// SPDX-License-Identifier: Apache-2.0
// What a graph of operations comes to: floating-point operations, bytes, workspace.
#include "virtual_gpu/cudnn/graph.hpp"

#include <algorithm>
#include <set>

#include "virtual_gpu/cudnn/workspace/convolution.hpp"

namespace ullage::vgpu::cudnn {
namespace {

struct GraphTensor {
  int data_type = 0;
  std::vector<std::int64_t> dimensions, strides;
  double elements = 1;
  double bytes = 0;  ///< 0 for a virtual one
};

GraphTensor tensor_of(const Descriptor& descriptor) {
  GraphTensor result;
  result.dimensions = values<std::int64_t>(descriptor, tensor_dimensions);
  for (const std::int64_t length : result.dimensions) result.elements *= static_cast<double>(length);
  result.strides = values<std::int64_t>(descriptor, tensor_strides);
  const auto is_virtual = values<std::uint8_t>(descriptor, tensor_is_virtual);
  const auto type = values<std::int32_t>(descriptor, tensor_data_type);
  result.data_type = type.empty() ? 0 : type.front();
  if (is_virtual.empty() || is_virtual.front() == 0)
    result.bytes = result.elements * static_cast<double>(element_bytes(result.data_type));
  return result;
}

/// 2 x the product of the output's elements with the summed dimension.
double matmul_flops(const std::map<int, GraphTensor>& tensors) {
  const auto a = tensors.find(1520), c = tensors.find(1522);
  if (a == tensors.end() || c == tensors.end() || a->second.dimensions.empty()) return 0;
  return 2 * c->second.elements * static_cast<double>(a->second.dimensions.back());
}

/// Forward, input and weight gradient do the same products: y elements x weights per output channel.
double convolution_flops(int type, const std::map<int, GraphTensor>& tensors) {
  constexpr int weights[] = {703, 715, 709}, outputs[] = {705, 717, 711};  // forward, weight and input gradient
  const int form = type - operation_conv_forward;
  const auto w = tensors.find(weights[form]), y = tensors.find(outputs[form]);
  if (w == tensors.end() || y == tensors.end() || w->second.dimensions.empty() || w->second.dimensions.front() == 0)
    return 0;
  return 2 * y->second.elements * w->second.elements / static_cast<double>(w->second.dimensions.front());
}

/// q [b, h, s, d], k [b, h, t, d]: two products of s x t x d forward, five backward.
double attention_flops(int type, const std::map<int, GraphTensor>& tensors) {
  const bool forward = type == operation_sdpa_forward;
  const auto q = tensors.find(forward ? 2800 : 2851), k = tensors.find(forward ? 2801 : 2852);
  if (q == tensors.end() || k == tensors.end() || k->second.dimensions.size() < 3) return 0;
  return (forward ? 4 : 10) * q->second.elements * static_cast<double>(k->second.dimensions[2]);
}

double flops_of(int type, const std::map<int, GraphTensor>& tensors) {
  if (type == operation_matmul) return matmul_flops(tensors);
  if (type >= operation_conv_forward && type <= operation_conv_backward_data) return convolution_flops(type, tensors);
  if (type == operation_sdpa_forward || type == operation_sdpa_backward) return attention_flops(type, tensors);
  return 0;
}

/// Attributes of the three convolutions: the filter, the input or its gradient, the output or its gradient, the
/// settings.
struct ConvolutionAttributes {
  int filter, input, output, settings;
};

ConvolutionAttributes attributes_of_convolution(int type) {
  if (type == operation_conv_forward) return {703, 704, 705, 702};
  if (type == operation_conv_backward_data) return {709, 710, 711, 708};
  return {715, 716, 717, 714};
}

Pass pass_of(int type) {
  if (type == operation_conv_forward) return Pass::forward;
  return type == operation_conv_backward_data ? Pass::backward_data : Pass::backward_filter;
}

std::vector<std::uint64_t> unsigned_from(const std::vector<std::int64_t>& values, std::size_t first) {
  std::vector<std::uint64_t> result;
  for (std::size_t i = first; i < values.size(); ++i)
    result.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(values[i], 1)));
  return result;
}

/// Channels are the fastest dimension.
bool is_channels_last(const GraphTensor& tensor) {
  return tensor.strides.size() > 2 && tensor.strides[1] == 1 && tensor.dimensions[1] > 1;
}

ConvolutionShape shape_of(const Descriptor& operation, const std::map<int, GraphTensor>& tensors) {
  const ConvolutionAttributes names = attributes_of_convolution(operation.type);
  const auto x = tensors.find(names.input), w = tensors.find(names.filter), y = tensors.find(names.output);
  ConvolutionShape shape;
  shape.element_bytes = 0;
  if (x == tensors.end() || w == tensors.end() || y == tensors.end()) return shape;
  const GraphTensor &input = x->second, &filter = w->second, &output = y->second;
  if (std::min({input.dimensions.size(), filter.dimensions.size(), output.dimensions.size()}) < 3) return shape;
  const Profile& profile = ullage_machine()->profile();
  shape.pass = pass_of(operation.type);
  shape.compute_capability = 10 * profile.cc_major + profile.cc_minor;
  shape.data_type = input.data_type;
  shape.element_bytes = element_bytes(input.data_type);
  shape.channels_last = is_channels_last(input) || is_channels_last(output);
  const auto whole = unsigned_from(input.dimensions, 0), results = unsigned_from(output.dimensions, 0);
  shape.batch = whole[0];
  shape.input_channels = whole[1];
  shape.output_channels = results[1];
  shape.groups = std::max<std::uint64_t>(whole[1] / unsigned_from(filter.dimensions, 1)[0], 1);
  shape.input = unsigned_from(input.dimensions, 2);
  shape.output = unsigned_from(output.dimensions, 2);
  shape.filter = unsigned_from(filter.dimensions, 2);
  const auto settings = values<void*>(operation, names.settings);
  const Descriptor convolution = copy_of(settings.empty() ? nullptr : settings.front());
  shape.stride = unsigned_from(values<std::int64_t>(convolution, convolution_strides), 0);
  shape.dilation = unsigned_from(values<std::int64_t>(convolution, convolution_dilations), 0);
  return shape;
}

bool is_convolution(int type) {
  return type >= operation_conv_forward && type <= operation_conv_backward_data;
}

void name_operation(int type, GraphWork* work) {
  switch (type) {
    case operation_conv_forward:
      work->kernel = "simulated_convolution_forward";
      work->purpose = "convolution, forward";
      break;
    case operation_conv_backward_data:
      work->kernel = "simulated_convolution_backward_data";
      work->purpose = "convolution, gradient of the input";
      break;
    case operation_conv_backward_filter:
      work->kernel = "simulated_convolution_backward_filter";
      work->purpose = "convolution, gradient of the weight";
      break;
    case operation_sdpa_forward:
      work->kernel = "simulated_attention_forward";
      break;
    case operation_sdpa_backward:
      work->kernel = "simulated_attention_backward";
      break;
    default:
      break;
  }
}

/// Adds one operation; a tensor that several operations touch counts once.
void add_operation(const void* handle, std::set<void*>* seen, GraphWork* work) {
  const Descriptor operation = copy_of(handle);
  std::map<int, GraphTensor> tensors;
  for (const auto& [name, attribute] : operation.attributes) {
    if (attribute.type != backend_descriptor) continue;
    for (void* pointer : values<void*>(operation, name)) {
      const Descriptor descriptor = copy_of(pointer);
      if (descriptor.type != tensor_type) continue;
      tensors[name] = tensor_of(descriptor);
      if (seen->insert(pointer).second) work->work.bytes += tensors[name].bytes;
    }
  }
  work->work.flops += flops_of(operation.type, tensors);
  if (is_convolution(operation.type)) work->workspace = convolution_workspace(shape_of(operation, tensors));
  name_operation(operation.type, work);
}

}  // namespace

Descriptor copy_of(const void* handle) {
  Descriptor result;
  descriptors().with(handle, [&](Descriptor& found) { result = found; });
  return result;
}

GraphWork work_of_graph(const Descriptor& graph) {
  GraphWork work;
  work.work.kind = Work::Kind::kernel;
  std::set<void*> seen;
  for (void* operation : values<void*>(graph, graph_operations)) add_operation(operation, &seen, &work);
  return work;
}

}  // namespace ullage::vgpu::cudnn
