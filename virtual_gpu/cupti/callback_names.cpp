// SPDX-License-Identifier: Apache-2.0
// Names of the calls that the recorder knows, with their numbers, as cupti_runtime_cbid.h and cupti_driver_cbid.h list
// them. From torch 2.15 on the profiler asks for names instead of bringing a table.
#include <cstdint>

#include "virtual_gpu/device/activity.hpp"

namespace ullage::vgpu {
namespace {

constexpr int success = 0, invalid_parameter = 1;
constexpr std::uint32_t driver_domain = 1, runtime_domain = 2;

struct Name {
  ApiCall call;
  const char* text;
};

constexpr Name names[] = {
    {runtime_api::malloc, "cudaMalloc_v3020"},
    {runtime_api::free, "cudaFree_v3020"},
    {runtime_api::malloc_host, "cudaMallocHost_v3020"},
    {runtime_api::free_host, "cudaFreeHost_v3020"},
    {runtime_api::host_alloc, "cudaHostAlloc_v3020"},
    {runtime_api::memcpy, "cudaMemcpy_v3020"},
    {runtime_api::memcpy_2d, "cudaMemcpy2D_v3020"},
    {runtime_api::memcpy_async, "cudaMemcpyAsync_v3020"},
    {runtime_api::memcpy_2d_async, "cudaMemcpy2DAsync_v3020"},
    {runtime_api::memset, "cudaMemset_v3020"},
    {runtime_api::memset_async, "cudaMemsetAsync_v3020"},
    {runtime_api::stream_synchronize, "cudaStreamSynchronize_v3020"},
    {runtime_api::stream_query, "cudaStreamQuery_v3020"},
    {runtime_api::event_record, "cudaEventRecord_v3020"},
    {runtime_api::event_synchronize, "cudaEventSynchronize_v3020"},
    {runtime_api::event_query, "cudaEventQuery_v3020"},
    {runtime_api::event_elapsed_time, "cudaEventElapsedTime_v3020"},
    {runtime_api::stream_wait_event, "cudaStreamWaitEvent_v3020"},
    {runtime_api::memcpy_peer_async, "cudaMemcpyPeerAsync_v4000"},
    {runtime_api::device_synchronize, "cudaDeviceSynchronize_v3020"},
    {runtime_api::launch_kernel, "cudaLaunchKernel_v7000"},
    {runtime_api::launch_cooperative_kernel, "cudaLaunchCooperativeKernel_v9000"},
    {runtime_api::graph_launch, "cudaGraphLaunch_v10000"},
    {runtime_api::event_record_with_flags, "cudaEventRecordWithFlags_v11010"},
    {runtime_api::launch_kernel_ex, "cudaLaunchKernelExC_v11060"},
    {driver_api::ctx_synchronize, "cuCtxSynchronize"},
    {driver_api::stream_synchronize, "cuStreamSynchronize"},
    {driver_api::memset_d8_async, "cuMemsetD8Async"},
    {driver_api::memset_d16_async, "cuMemsetD16Async"},
    {driver_api::memset_d32_async, "cuMemsetD32Async"},
    {driver_api::memcpy_htod_async, "cuMemcpyHtoDAsync_v2"},
    {driver_api::memcpy_dtoh_async, "cuMemcpyDtoHAsync_v2"},
    {driver_api::memcpy_dtod_async, "cuMemcpyDtoDAsync_v2"},
    {driver_api::memcpy_async, "cuMemcpyAsync"},
    {driver_api::launch_kernel, "cuLaunchKernel"},
    {driver_api::launch_cooperative_kernel, "cuLaunchCooperativeKernel"},
    {driver_api::launch_kernel_ex, "cuLaunchKernelEx"},
};

}  // namespace
}  // namespace ullage::vgpu

using namespace ullage::vgpu;

extern "C" int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t number, const char** name) {
  if (name == nullptr || (domain != driver_domain && domain != runtime_domain)) return invalid_parameter;
  for (const Name& known : names)
    if (known.call.driver == (domain == driver_domain) && known.call.number == number)
      return *name = known.text, success;
  return invalid_parameter;
}
