// SPDX-License-Identifier: Apache-2.0
// What a cuDNN handle remembers, and the numbers of the ABI that this library needs.
#pragma once

#include <cstdint>

#include "virtual_gpu/device/workspace_range.hpp"
#include "virtual_gpu/support/handle_table.hpp"

namespace ullage::vgpu::cudnn {

enum Status : int { success = 0, not_initialized = 1001, bad_param = 2000, bad_param_null = 2002 };

struct Context {
  void* stream = nullptr;
};

/// Stream of a handle; the default stream for a handle that is not known.
StreamId stream_of(const void* handle);

/// What the stand-in asks for of a range; ULLAGE_CUDNN_WORKSPACES=low or high takes that end of it.
std::uint64_t bytes_to_ask(const WorkspaceRange& range);

/// Bytes of one element of a cudnnDataType_t; 1 for packed or unknown types.
std::uint64_t element_bytes(int data_type);

}  // namespace ullage::vgpu::cudnn
