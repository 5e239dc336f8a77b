// SPDX-License-Identifier: Apache-2.0
// cuBLAS: every form of matrix product goes to the machine with its shape. Arguments behind the last one used are not
// declared; on this ABI the caller removes them.
#include "virtual_gpu/cublas/context.hpp"

using namespace ullage::vgpu;
using namespace ullage::vgpu::cublas;

namespace {

struct Shape {
  long long m, n, k;
  long long batch = 1;
};

int product(void* handle, const char* function, const Shape& shape, std::uint32_t type, std::uint32_t compute) {
  if (shape.m < 0 || shape.n < 0 || shape.k < 0 || shape.batch < 0) return invalid_value;
  Context context;
  const int status = with_context(handle, [&](Context& found) { context = found; });
  if (status != success) return status;
  GemmCall call;
  call.function = function;
  call.m = static_cast<std::uint64_t>(shape.m);
  call.n = static_cast<std::uint64_t>(shape.n);
  call.k = static_cast<std::uint64_t>(shape.k);
  call.batch = static_cast<std::uint64_t>(shape.batch);
  call.type = type;
  const bool tf32 = type == r_32f && compute == compute_32f && context.math_mode == tf32_math;
  call.compute = tf32 ? compute_32f_fast_tf32 : compute;
  ullage_machine()->gemm(call, stream_id(context.stream));
  return success;
}

/// Products of several groups: one call per group.
template <class Int>
int grouped(void* handle, const char* function, const Int* m, const Int* n, const Int* k, Int groups, const Int* size,
            std::uint32_t type, std::uint32_t compute) {
  for (Int i = 0; i < groups; ++i) {
    const int status = product(handle, function, {m[i], n[i], k[i], size[i]}, type, compute);
    if (status != success) return status;
  }
  return success;
}

using In = const void*;

}  // namespace

// handle, transa, transb, m, n, k
#define PLAIN(name, Int, type, compute)                              \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k) { \
    return product(handle, #name, {m, n, k}, type, compute);         \
  }
// ... alpha, A, lda, B, ldb, beta, C, ldc, batch
#define BATCHED(name, Int, type, compute)                                                                          \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k, In, In, Int, In, Int, In, In, Int, Int batch) { \
    return product(handle, #name, {m, n, k, batch}, type, compute);                                                \
  }
// ... alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc, strideC, batch
#define STRIDED(name, Int, type, compute)                                                                              \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k, In, In, Int, long long, In, Int, long long, In, In, \
                      Int, long long, Int batch) {                                                                     \
    return product(handle, #name, {m, n, k, batch}, type, compute);                                                    \
  }
// ... alpha, A, Atype
#define TYPED(name, Int, compute)                                                                \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k, In, In, std::uint32_t type) { \
    return product(handle, #name, {m, n, k}, type, compute);                                     \
  }
// ... alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, computeType
#define TYPED_EX(name, Int)                                                                                           \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k, In, In, std::uint32_t type, Int, In, int, Int, In, \
                      In, int, Int, std::uint32_t compute) {                                                          \
    return product(handle, #name, {m, n, k}, type, compute);                                                          \
  }
// ... alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, batch, computeType
#define BATCHED_EX(name, Int)                                                                                         \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k, In, In, std::uint32_t type, Int, In, int, Int, In, \
                      In, int, Int, Int batch, std::uint32_t compute) {                                               \
    return product(handle, #name, {m, n, k, batch}, type, compute);                                                   \
  }
// ... alpha, A, Atype, lda, strideA, B, Btype, ldb, strideB, beta, C, Ctype, ldc, strideC, batch, computeType
#define STRIDED_EX(name, Int)                                                                                      \
  extern "C" int name(void* handle, int, int, Int m, Int n, Int k, In, In, std::uint32_t type, Int, long long, In, \
                      int, Int, long long, In, In, int, Int, long long, Int batch, std::uint32_t compute) {        \
    return product(handle, #name, {m, n, k, batch}, type, compute);                                                \
  }
// handle, transa[], transb[], m[], n[], k[], alpha[], A[], lda[], B[], ldb[], beta[], C[], ldc[], groups, size[]
#define GROUPED(name, Int, type, compute)                                                                             \
  extern "C" int name(void* handle, In, In, const Int* m, const Int* n, const Int* k, In, In, In, In, In, In, In, In, \
                      Int groups, const Int* size) {                                                                  \
    return grouped<Int>(handle, #name, m, n, k, groups, size, type, compute);                                         \
  }
// ... alpha[], A[], Atype, lda[], B[], Btype, ldb[], beta[], C[], Ctype, ldc[], groups, size[], computeType
#define GROUPED_EX(name, Int)                                                                                         \
  extern "C" int name(void* handle, In, In, const Int* m, const Int* n, const Int* k, In, In, std::uint32_t type, In, \
                      In, int, In, In, In, int, In, Int groups, const Int* size, std::uint32_t compute) {             \
    return grouped<Int>(handle, #name, m, n, k, groups, size, type, compute);                                         \
  }

#define BOTH(FORM, name, ...) FORM(name, int, __VA_ARGS__) FORM(name##_64, long long, __VA_ARGS__)
#define BOTH_EX(FORM, name) FORM(name, int) FORM(name##_64, long long)

BOTH(PLAIN, cublasSgemm_v2, r_32f, compute_32f)
BOTH(PLAIN, cublasDgemm_v2, r_64f, compute_64f)
BOTH(PLAIN, cublasCgemm_v2, c_32f, compute_32f)
BOTH(PLAIN, cublasZgemm_v2, c_64f, compute_64f)
BOTH(PLAIN, cublasHgemm, r_16f, compute_16f)
BOTH(PLAIN, cublasCgemm3m, c_32f, compute_32f)
BOTH(PLAIN, cublasZgemm3m, c_64f, compute_64f)
BOTH(TYPED, cublasSgemmEx, compute_32f)
BOTH(TYPED, cublasCgemmEx, compute_32f)
BOTH(TYPED, cublasCgemm3mEx, compute_32f)

BOTH(BATCHED, cublasSgemmBatched, r_32f, compute_32f)
BOTH(BATCHED, cublasDgemmBatched, r_64f, compute_64f)
BOTH(BATCHED, cublasCgemmBatched, c_32f, compute_32f)
BOTH(BATCHED, cublasCgemm3mBatched, c_32f, compute_32f)
BOTH(BATCHED, cublasZgemmBatched, c_64f, compute_64f)
BOTH(BATCHED, cublasHgemmBatched, r_16f, compute_16f)

BOTH(STRIDED, cublasSgemmStridedBatched, r_32f, compute_32f)
BOTH(STRIDED, cublasDgemmStridedBatched, r_64f, compute_64f)
BOTH(STRIDED, cublasCgemmStridedBatched, c_32f, compute_32f)
BOTH(STRIDED, cublasCgemm3mStridedBatched, c_32f, compute_32f)
BOTH(STRIDED, cublasZgemmStridedBatched, c_64f, compute_64f)
BOTH(STRIDED, cublasHgemmStridedBatched, r_16f, compute_16f)

BOTH_EX(TYPED_EX, cublasGemmEx)
BOTH_EX(BATCHED_EX, cublasGemmBatchedEx)
BOTH_EX(STRIDED_EX, cublasGemmStridedBatchedEx)

BOTH(GROUPED, cublasSgemmGroupedBatched, r_32f, compute_32f)
BOTH(GROUPED, cublasDgemmGroupedBatched, r_64f, compute_64f)
BOTH_EX(GROUPED_EX, cublasGemmGroupedBatchedEx)
