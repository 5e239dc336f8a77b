// SPDX-License-Identifier: Apache-2.0
// What a cuBLAS handle remembers, and the numbers of the ABI that this library needs.
#pragma once

#include "virtual_gpu/support/handle_table.hpp"

namespace ullage::vgpu::cublas {

enum Status : int { success = 0, not_initialized = 1, invalid_value = 7 };

enum DataType : std::uint32_t { r_32f = 0, r_64f = 1, r_16f = 2, c_32f = 4, c_64f = 5 };
enum ComputeType : std::uint32_t { compute_16f = 64, compute_32f = 68, compute_64f = 70, compute_32f_fast_tf32 = 77 };
inline constexpr int tf32_math = 3;  // CUBLAS_TF32_TENSOR_OP_MATH
inline constexpr int version = 130100;

struct Context {
  void* stream = nullptr;
  int pointer_mode = 0;
  int atomics_mode = 0;
  int math_mode = 0;
  int sm_count_target = 0;
};

template <class Use>
int with_context(void* handle, Use use) {
  return handles<Context>().with(handle, use) ? success : not_initialized;
}

}  // namespace ullage::vgpu::cublas
