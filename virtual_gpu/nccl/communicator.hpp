// SPDX-License-Identifier: Apache-2.0
// What a NCCL communicator remembers. Only a world of one process is supported yet.
#pragma once

#include <string>

#include "virtual_gpu/support/handle_table.hpp"

namespace ullage::vgpu::nccl {

enum Result : int { success = 0, unhandled_cuda_error = 1, invalid_argument = 4, invalid_usage = 5 };

struct Communicator {
  int ranks = 1;
  int rank = 0;
  int device = 0;
};

inline bool known(const void* communicator) {
  return handles<Communicator>().with(communicator, [](Communicator&) {});
}

/// Keeps the text for ncclGetLastError of this thread and gives `result` back.
int fail(int result, std::string text);

/// Bytes of one element of a ncclDataType_t; 0 for an unknown type.
std::uint64_t element_bytes(int data_type);

}  // namespace ullage::vgpu::nccl
