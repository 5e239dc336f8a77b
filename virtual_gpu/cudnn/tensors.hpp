// SPDX-License-Identifier: Apache-2.0
// Tensor and filter descriptors of cuDNN's older interface.
#pragma once

#include <vector>

#include "virtual_gpu/cudnn/context.hpp"

namespace ullage::vgpu::cudnn {

struct Tensor {
  int data_type = 0;
  std::vector<int> dimensions;
  std::vector<int> strides;
  std::uint64_t elements() const;
};

struct Filter {
  int data_type = 0;
  int format = 0;
  std::vector<int> dimensions;
  std::uint64_t elements() const;
};

Tensor tensor(const void* handle);  ///< an empty one for a handle that is not known
Filter filter(const void* handle);

}  // namespace ullage::vgpu::cudnn
