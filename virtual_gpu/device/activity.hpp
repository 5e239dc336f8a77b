// SPDX-License-Identifier: Apache-2.0
// What a profiler is told while it looks on: calls of the API, device work with its simulated duration, waits. The
// CUPTI stand-in is the only observer; while there is none, a call costs one look at a pointer.
#pragma once

#include <cstdint>

#include "base/ulog.hpp"
#include "virtual_gpu/device/ids.hpp"

namespace ullage::vgpu {

/// A function of the API by its callback number in CUPTI (cupti_runtime_cbid.h, cupti_driver_cbid.h).
struct ApiCall {
  bool driver = false;
  std::uint32_t number = 0;
};

namespace runtime_api {
inline constexpr ApiCall malloc{false, 20}, free{false, 22}, malloc_host{false, 25}, free_host{false, 26},
    host_alloc{false, 27}, memcpy{false, 31}, memcpy_2d{false, 32}, memcpy_async{false, 41}, memcpy_2d_async{false, 44},
    memset{false, 49}, memset_async{false, 51}, stream_synchronize{false, 131}, stream_query{false, 132},
    event_record{false, 135}, event_synchronize{false, 137}, event_query{false, 138}, event_elapsed_time{false, 139},
    stream_wait_event{false, 147}, memcpy_peer_async{false, 161}, device_synchronize{false, 165},
    launch_kernel{false, 211}, launch_cooperative_kernel{false, 269}, graph_launch{false, 311},
    event_record_with_flags{false, 370}, launch_kernel_ex{false, 430};
}  // namespace runtime_api

namespace driver_api {
inline constexpr ApiCall ctx_synchronize{true, 17}, stream_synchronize{true, 126}, memset_d8_async{true, 216},
    memset_d16_async{true, 218}, memset_d32_async{true, 220}, memcpy_htod_async{true, 277},
    memcpy_dtoh_async{true, 279}, memcpy_dtod_async{true, 281}, memcpy_async{true, 306}, launch_kernel{true, 307},
    launch_cooperative_kernel{true, 477}, launch_kernel_ex{true, 652};
}  // namespace driver_api

struct KernelActivity {
  const char* name = "";  ///< as in the module (mangled), or of a simulated library kernel
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
};

struct CopyActivity {
  ulog::Direction direction{};
  bool pinned = false;  ///< of the host's side
  std::uint64_t bytes = 0;
};

struct FillActivity {
  std::uint32_t value = 0;
  std::uint64_t bytes = 0;
};

/// Safe to call from several threads; calls of a thread nest. Lives for ever.
class ActivityObserver {
 public:
  virtual void enter(ApiCall call) = 0;
  virtual void leave() = 0;

  virtual void kernel(const KernelActivity& kernel, std::uint64_t duration_ns, StreamId stream) = 0;
  virtual void copy(const CopyActivity& copy, std::uint64_t duration_ns, StreamId stream) = 0;
  virtual void fill(const FillActivity& fill, std::uint64_t duration_ns, StreamId stream) = 0;

  virtual void record_event(EventId event, StreamId stream) = 0;
  virtual void wait_event(StreamId stream, EventId event) = 0;

  /// These return when the observed work is over in real time: a trace shows simulated durations on the host's clock.
  virtual void wait_for_stream(StreamId stream) = 0;
  virtual void wait_for_event(EventId event) = 0;
  virtual void wait_for_device() = 0;

 protected:
  ~ActivityObserver() = default;
};

}  // namespace ullage::vgpu
