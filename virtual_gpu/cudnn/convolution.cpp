// SPDX-License-Identifier: Apache-2.0
// cuDNN's older convolution interface: one algorithm, no workspace; an execution is device work of the right size.
#include <cstddef>

#include "virtual_gpu/cudnn/tensors.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::cudnn;

namespace {

struct Performance {
  std::int32_t algorithm = 1;
  std::int32_t status = success;
  float milliseconds = 0;
  std::uint64_t memory = 0;
  std::int32_t determinism = 1;
  std::int32_t math_type = 1;
  std::int32_t reserved[3] = {};
};
static_assert(sizeof(Performance) == 48);

int one_algorithm(int requested, int* returned, Performance* results) {
  if (requested < 1 || returned == nullptr || results == nullptr) return bad_param;
  results[0] = Performance{};
  *returned = 1;
  return success;
}

/// y elements x weights per output channel x 2, whichever of the three is computed.
int convolve(void* handle, const void* x, const void* w, const void* y) {
  if (!handles<Context>().with(handle, [](Context&) {})) return not_initialized;
  const Tensor input = tensor(x), output = tensor(y);
  const Filter weights = filter(w);
  Work work;
  work.kind = Work::Kind::kernel;
  work.bytes = static_cast<double>(input.elements() * element_bytes(input.data_type) +
                                   weights.elements() * element_bytes(weights.data_type) +
                                   output.elements() * element_bytes(output.data_type));
  if (!weights.dimensions.empty() && weights.dimensions.front() > 0)
    work.flops = 2.0 * static_cast<double>(output.elements()) * static_cast<double>(weights.elements()) /
                 weights.dimensions.front();
  ullage_machine()->submit(work, stream_of(handle), "simulated_convolution");
  return success;
}

}  // namespace

using In = const void*;

extern "C" {

int cudnnGetConvolutionForwardAlgorithm_v7(void*, In, In, In, In, int requested, int* returned, Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, In, In, In, In, int requested, int* returned,
                                                Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, In, In, In, In, int requested, int* returned,
                                                  Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnFindConvolutionForwardAlgorithm(void*, In, In, In, In, int requested, int* returned, Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnFindConvolutionBackwardDataAlgorithm(void*, In, In, In, In, int requested, int* returned,
                                              Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnFindConvolutionBackwardFilterAlgorithm(void*, In, In, In, In, int requested, int* returned,
                                                Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnFindConvolutionForwardAlgorithmEx(void*, In, In, In, In, In, In, In, int requested, int* returned,
                                           Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnFindConvolutionBackwardDataAlgorithmEx(void*, In, In, In, In, In, In, In, int requested, int* returned,
                                                Performance* results) {
  return one_algorithm(requested, returned, results);
}
int cudnnFindConvolutionBackwardFilterAlgorithmEx(void*, In, In, In, In, In, In, In, int requested, int* returned,
                                                  Performance* results) {
  return one_algorithm(requested, returned, results);
}

// handle, alpha, xDesc, x, wDesc, w, convDesc, algo, workspace, bytes, beta, yDesc, y
int cudnnConvolutionForward(void* handle, In, In x, In, In w, In, In, int, void*, std::size_t, In, In y, void*) {
  return convolve(handle, x, w, y);
}
// handle, alpha, wDesc, w, dyDesc, dy, convDesc, algo, workspace, bytes, beta, dxDesc, dx
int cudnnConvolutionBackwardData(void* handle, In, In w, In, In dy, In, In, int, void*, std::size_t, In, In dx, void*) {
  return convolve(handle, dx, w, dy);
}
// handle, alpha, xDesc, x, dyDesc, dy, convDesc, algo, workspace, bytes, beta, dwDesc, dw
int cudnnConvolutionBackwardFilter(void* handle, In, In x, In, In dy, In, In, int, void*, std::size_t, In, In dw,
                                   void*) {
  return convolve(handle, x, dw, dy);
}

}  // extern "C"
