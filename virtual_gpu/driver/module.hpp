// SPDX-License-Identifier: Apache-2.0
// A module that a program loads through the driver, as Triton does: what its image says of its kernels.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "virtual_gpu/device/handles.hpp"

namespace ullage::vgpu {

/// Never freed: handles of its functions live for ever. The image is not kept.
class Module {
 public:
  /// `image`: a cubin; of an empty one (a fat binary, PTX) every function is there, with usual resources.
  explicit Module(std::span<const std::byte> image)
      : parameters_(read_cubin(image)), resources_(read_resources(image)) {}

  /// The one handle of a kernel; null when the cubin does not hold it.
  Function* function(const char* name);

 private:
  std::mutex mutex_;
  ParameterTable parameters_;
  ResourceTable resources_;
  std::map<std::string, Function> functions_;  // nodes never move
};

/// The content of a file; empty when it cannot be read.
std::vector<std::byte> file_bytes(const char* path);

/// Threads of the largest block that the registers of a multiprocessor let run.
int largest_block(const KernelResources& resources);

/// Blocks whose registers a multiprocessor can hold at once.
int blocks_by_registers(const KernelResources& resources, int block_size);

}  // namespace ullage::vgpu
