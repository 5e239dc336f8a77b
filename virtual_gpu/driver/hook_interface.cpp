// SPDX-License-Identifier: Apache-2.0
// Functions for the Python hook (through ctypes) and for the other stand-ins; no part of CUDA.
#include <cstdint>

#include "virtual_gpu/device/handles.hpp"
#include "virtual_gpu/driver/environment.hpp"

using ullage::vgpu::local_machine;

extern "C" {

std::uint32_t ullage_stream_id(const void* handle) {
  return ullage::vgpu::stream_id(handle);
}

/// The callback fills in the line of code that runs on the calling thread and returns the length. Null switches it off.
void ullage_set_line_callback(std::uint32_t (*callback)(char* text, std::uint32_t capacity)) {
  local_machine().set_line_callback(callback);
}

/// Names the line from which the next synchronisation of this thread comes.
void ullage_set_thread_line(const char* line) {
  ullage::vgpu::LocalMachine::set_thread_line(line);
}

/// A boundary; the record in marks.jsonl has the same index.
void ullage_mark(std::uint32_t index) {
  local_machine().mark(index);
}

/// Whether the device bytes hold values that were really computed; what the hook computed itself; what it knows not to
/// be.
int ullage_is_known(std::uint64_t address, std::uint64_t bytes) {
  return local_machine().is_known(address, bytes) ? 1 : 0;
}

void ullage_set_known(std::uint64_t address, std::uint64_t bytes) {
  local_machine().set_known(address, bytes, true);
}
void ullage_set_unknown(std::uint64_t address, std::uint64_t bytes) {
  local_machine().set_known(address, bytes, false);
}

/// 1: what the kernels of this thread write is told by the two functions above; 0: the device looks at their pointers.
void ullage_settle_here(int on) {
  ullage::vgpu::LocalMachine::settle_here(on != 0);
}

/// The next read by the host on this thread of 4 or 8 bytes gives this integer; negative: no longer.
void ullage_answer_next_read(std::int64_t value) {
  ullage::vgpu::LocalMachine::answer_next_read(value);
}

int ullage_owns_run() {
  return local_machine().owns_run() ? 1 : 0;
}

void ullage_flush() {
  local_machine().flush_log();
}

/// Completes the log; nothing is written any more.
void ullage_close_log() {
  local_machine().close_log();
}

std::uint64_t ullage_device_peak_bytes() {
  return local_machine().device_peak_bytes();
}

std::uint64_t ullage_device_used_bytes() {
  return local_machine().memory_info().used_bytes;
}

/// Host memory in bytes: pages behind device memory, pinned memory, the part of it that was touched.
void ullage_host_costs(std::uint64_t costs[3]) {
  const auto found = local_machine().host_costs();
  costs[0] = found.device_resident;
  costs[1] = found.pinned;
  costs[2] = found.pinned_resident;
}

/// Size of the pinned range that holds the address; 0 when there is none.
std::uint64_t ullage_pinned_range_bytes(std::uint64_t address) {
  const auto found = local_machine().pointer_info(reinterpret_cast<const void*>(address));
  return found.kind == ullage::vgpu::PointerInfo::Kind::host ? found.bytes : 0;
}

}  // extern "C"
