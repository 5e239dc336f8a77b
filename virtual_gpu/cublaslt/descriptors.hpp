// SPDX-License-Identifier: Apache-2.0
// What the cuBLASLt descriptors hold. The caller may own their memory (the Init functions), so each fits into the size
// that the ABI gives it.
#pragma once

#include <cstdint>

namespace ullage::vgpu::cublaslt {

enum Status : int { success = 0, not_initialized = 1, invalid_value = 7 };

struct MatmulDesc {
  std::int32_t fields[8] =
      {};  ///< attributes 0 to 7: compute, scale, pointer mode, transa, transb, transc, fill, epilogue
  std::int32_t compute() const { return fields[0]; }
  bool transposes_a() const { return fields[3] != 0; }
};
static_assert(sizeof(MatmulDesc) <= 256);

struct Layout {
  std::uint32_t type = 0;
  std::int32_t order = 0;
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  std::int64_t leading = 0;
  std::int32_t batch = 1;
  std::int32_t batch_mode = 0;
  std::int64_t stride = 0;
  std::int64_t plane = 0;
};
static_assert(sizeof(Layout) <= 64);

/// A preference or a transformation: accepted, not used.
struct Plain {
  std::uint64_t words[8] = {};
};
static_assert(sizeof(Plain) == 64);

struct Heuristic {
  std::uint64_t algorithm[8] = {};
  std::uint64_t workspace_bytes = 0;
  std::int32_t state = success;
  float waves = 1;
  std::int32_t reserved[4] = {};
};
static_assert(sizeof(Heuristic) == 96);

}  // namespace ullage::vgpu::cublaslt
