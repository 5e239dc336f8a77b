// SPDX-License-Identifier: Apache-2.0
// What the layers above the machine share: stream ids and their pointers, kernel handles.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "virtual_gpu/device/kernel_layout.hpp"
#include "virtual_gpu/device/machine.hpp"

namespace ullage::vgpu {

inline Machine& machine() {
  return *ullage_machine();
}

/// A kernel handle: CUfunction, CUkernel and cudaKernel_t all point to one of these. Never freed.
struct Function {
  const char* name = "";
  KernelLayout* layout = nullptr;  ///< of the module that holds it; null when its images are not at hand
  KernelResources resources{32, 0, 0};

  /// Sizes of its parameters, read from the module's images at the first launch.
  std::span<const ParameterSlot> parameters() {
    std::call_once(once_, [this] {
      if (layout) parameters_ = layout->parameters(name);
    });
    return parameters_;
  }

  /// For a kernel whose image was read when it was loaded.
  void take_parameters(std::vector<ParameterSlot> parameters) {
    std::call_once(once_, [&] { parameters_ = std::move(parameters); });
  }

 private:
  std::once_flag once_;
  std::vector<ParameterSlot> parameters_;
};

inline constexpr std::uintptr_t stream_handle_base = 0x7ab1'0000'0000;
inline constexpr std::uintptr_t stream_handle_step = 0x100;

/// cudaStream_t / CUstream of a stream; the default stream is the null pointer.
inline void* stream_handle(StreamId id) {
  return id == 0 ? nullptr : reinterpret_cast<void*>(stream_handle_base + id * stream_handle_step);
}

/// An event's handle is its id.
inline EventId event_id(const void* handle) {
  return reinterpret_cast<EventId>(handle);
}

/// 0, 1 (legacy) and 2 (per-thread) name the default stream; a pointer that is no stream gives an id that no stream
/// has.
inline StreamId stream_id(const void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value <= 2) return 0;
  if (value < stream_handle_base || value % stream_handle_step != 0) return UINT32_MAX;
  return static_cast<StreamId>((value - stream_handle_base) / stream_handle_step);
}

}  // namespace ullage::vgpu
