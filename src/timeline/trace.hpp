// SPDX-License-Identifier: Apache-2.0
// Trace: which operators ran when, nested, and the allocations that the allocator reported meanwhile. One Trace is of
// one process. Times are nanoseconds of the source's clock; all sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "timeline/timeline.hpp"

namespace ullage::timeline {

enum class CallKind : std::uint8_t {
  operation,   ///< an operator of PyTorch, or a step of the autograd engine
  annotation,  ///< record_function of the script or of a library
  module,      ///< a module's forward
  python,      ///< a Python function
  kernel,      ///< ran on the device
  copy,        ///< a transfer or a fill, on the device
  runtime,     ///< a call of the CUDA runtime or driver
};

using CallId = std::uint32_t;
inline constexpr CallId no_call = 0xffffffffU;

/// One call, for appending; the columns below are the storage and say what each field is.
struct Call {
  StringId name = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t thread = 0, external = 0;
  std::int32_t sequence = -1;
  StringId shapes = 0, stack = 0;
  CallKind kind = CallKind::operation;
  std::uint8_t forward_thread = 0;
};

/// Calls as columns, in the order of the source until `link` sorts them.
struct Calls {
  std::vector<StringId> name;
  std::vector<std::int64_t> begin_ns;
  std::vector<std::int64_t> end_ns;
  std::vector<std::uint32_t> thread;    ///< index into Trace::threads
  std::vector<std::uint32_t> external;  ///< External id: ties kernels to the operator that launched them; 0 is none
  std::vector<std::int32_t> sequence;   ///< of the autograd node; -1 is none
  std::vector<StringId> shapes;         ///< input shapes as written, `[[4,512],[]]`; 0 when not recorded
  std::vector<StringId> stack;          ///< `Call stack`, innermost first, as written; 0 when not recorded
  std::vector<CallKind> kind;
  std::vector<std::uint8_t> forward_thread;  ///< PyTorch's number of the thread that ran the forward; 0 is none
  std::vector<CallId> parent;                ///< filled by link(): the innermost call around it on its thread

  void push_back(const Call& call);
  [[nodiscard]] std::size_t count() const { return name.size(); }
};

/// One event, for appending.
struct MemoryEvent {
  std::int64_t time_ns = 0, bytes = 0;
  std::uint64_t address = 0, allocated = 0, reserved = 0;
  std::uint32_t thread = 0;
  std::int16_t device = 0;
};

/// What the allocator reported, in the source's order until `link` sorts it by time.
struct MemoryEvents {
  std::vector<std::int64_t> time_ns;
  std::vector<std::int64_t> bytes;       ///< rounded block size; negative for a free
  std::vector<std::uint64_t> address;    ///< 0 when the source has none (before 2022)
  std::vector<std::uint64_t> allocated;  ///< the allocator's total after the event; 0 when the source has none
  std::vector<std::uint64_t> reserved;
  std::vector<std::uint32_t> thread;
  std::vector<std::int16_t> device;  ///< -1 is the host
  std::vector<CallId> call;          ///< filled by link(): the innermost operator around it

  void push_back(const MemoryEvent& event);
  [[nodiscard]] std::size_t count() const { return time_ns.size(); }
};

/// An out-of-memory event of the source.
struct TraceOutOfMemory {
  std::int64_t time_ns = 0;
  std::uint64_t bytes = 0;
  int device = 0;
};

struct Trace {
  StringTable strings;
  Calls calls;
  MemoryEvents memory;
  std::vector<TraceOutOfMemory> ooms;
  std::vector<std::uint64_t> threads;  ///< the source's own numbers
  std::int64_t base_ns = 0;            ///< what the times count from: epoch = base + time
  std::string device_name;             ///< empty when not given
  std::uint64_t device_bytes = 0;

  std::uint32_t thread_index(std::uint64_t thread);
};

/// Sorts calls (per thread by begin, outer calls first) and memory events (by time, stable), and fills in the calls'
/// parents and the innermost operator of each memory event. O(n log n).
void link(Trace& trace);

}  // namespace ullage::timeline
