// SPDX-License-Identifier: Apache-2.0
// cuBLASLt: the choice of an algorithm (always one, without workspace) and the matrix product.
#include <cstddef>

#include "virtual_gpu/cublaslt/descriptors.hpp"
#include "virtual_gpu/device/handles.hpp"
#include "virtual_gpu/device/machine.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::cublaslt;

extern "C" {

int cublasLtMatmulAlgoGetHeuristic(void* /*handle*/, const MatmulDesc* desc, const Layout*, const Layout*,
                                   const Layout*, const Layout*, const Plain*, int requested, Heuristic* results,
                                   int* returned) {
  if (desc == nullptr || requested < 1 || results == nullptr || returned == nullptr) return invalid_value;
  results[0] = Heuristic{};
  *returned = 1;
  return success;
}

int cublasLtMatmulAlgoGetIds(void* /*handle*/, int, int, int, int, int, int, int requested, int* ids, int* returned) {
  if (requested < 1 || ids == nullptr || returned == nullptr) return invalid_value;
  ids[0] = 0;
  *returned = 1;
  return success;
}

int cublasLtMatmulAlgoInit(void* /*handle*/, int, int, int, int, int, int, int /*id*/, std::uint64_t (*algorithm)[8]) {
  if (algorithm == nullptr) return invalid_value;
  for (auto& word : *algorithm) word = 0;
  return success;
}

int cublasLtMatmulAlgoCheck(void* /*handle*/, const MatmulDesc* desc, const Layout*, const Layout*, const Layout*,
                            const Layout*, const void* /*algorithm*/, Heuristic* result) {
  if (desc == nullptr || result == nullptr) return invalid_value;
  result->workspace_bytes = 0;
  result->state = success;
  result->waves = 1;
  return success;
}

int cublasLtMatmul(void* handle, const MatmulDesc* desc, const void* /*alpha*/, const void*, const Layout* a,
                   const void*, const Layout* b, const void* /*beta*/, const void*, const Layout* /*c*/, void*,
                   const Layout* d, const void* /*algorithm*/, void* /*workspace*/, std::size_t /*bytes*/,
                   void* stream) {
  if (handle == nullptr) return not_initialized;
  if (desc == nullptr || a == nullptr || b == nullptr || d == nullptr) return invalid_value;
  GemmCall call;
  call.function = "cublasLtMatmul";
  call.m = d->rows;
  call.n = d->cols;
  call.k = desc->transposes_a() ? a->rows : a->cols;
  call.batch = d->batch > 0 ? static_cast<std::uint64_t>(d->batch) : 1;
  call.type = a->type;
  call.compute = static_cast<std::uint32_t>(desc->compute());
  ullage_machine()->gemm(call, stream_id(stream));
  return success;
}

}  // extern "C"
