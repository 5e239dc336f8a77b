// SPDX-License-Identifier: Apache-2.0
// The record layout of device.ulog, the virtual device's log: written by virtual_gpu/device, read by
// src/ingest/run_directory. Little-endian; docs/run_directory.md describes it for other readers.
//
// A file is one FileHeader, then records. A record is a RecordHeader and `size` bytes of payload (a multiple of 8;
// `size` does not count the header). Unknown record types are skipped by their size.
#pragma once

#include <cstdint>

namespace ullage::ulog {

inline constexpr char magic[8] = {'U', 'L', 'L', 'A', 'G', 'E', 'D', 'L'};
inline constexpr std::uint32_t version = 1;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t pid;
};

enum class RecordType : std::uint16_t {
  name = 1,            ///< Name: a string used by later records
  allocate = 2,        ///< Memory: device memory taken (cudaMalloc, cuMemCreate, managed ...)
  release = 3,         ///< Memory: and given back
  launch = 4,          ///< Launch: a kernel
  gemm = 5,            ///< Gemm: a matrix product of cuBLAS or cuBLASLt
  copy = 6,            ///< Copy: a transfer
  fill = 7,            ///< Copy with only destination and bytes: a memset
  sync = 8,            ///< Sync: the host waited for the device
  mark = 9,            ///< Mark: a boundary written by the hook
  unknown_read = 10,   ///< Copy: the host read bytes that nothing computed
  stub_calls = 11,     ///< StubCalls: how often a do-nothing function was called (written at flush, cumulative)
  host_memory = 12,    ///< Memory: pinned host memory taken (bytes > 0) or given back (flags = 1)
  collective = 13,     ///< Collective: an NCCL call
  out_of_memory = 14,  ///< Memory: a request that was refused (bytes = request, address = 0)
  totals = 15,         ///< Totals: running totals, written at each flush
  workspace = 16,      ///< Workspace: a library worked with scratch memory whose size is an estimate
};

struct RecordHeader {
  std::uint16_t type;
  std::uint16_t flags;
  std::uint32_t size;
  std::uint64_t time_ns;  ///< virtual host time
};

/// payload: id, kind, then the text, zero-padded to a multiple of 8
struct Name {
  std::uint32_t id;      ///< names are numbered from 1; 0 is "none"
  std::uint16_t kind;    ///< 1 kernel (mangled), 2 source line ("file:line function"), 3 function, 4 library
  std::uint16_t length;  ///< bytes of text that follow
};

enum class MemoryKind : std::uint32_t {
  device = 1,
  physical = 2,
  managed = 3,
  pinned = 4,
  registered = 5,
  context = 6
};

struct Memory {
  std::uint64_t address;
  std::uint64_t bytes;  ///< charged bytes (rounded up to 2 MiB for device memory)
  std::uint32_t kind;   ///< MemoryKind
  std::uint32_t reserved;
};

struct Launch {
  std::uint32_t kernel;  ///< Name id
  std::uint32_t stream;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint64_t start_ns;  ///< virtual device time
  std::uint64_t end_ns;
};

struct Gemm {
  std::uint64_t m, n, k, batch;
  std::uint32_t function;  ///< Name id
  std::uint32_t stream;
  std::uint32_t type;     ///< cudaDataType of the operands
  std::uint32_t compute;  ///< cublasComputeType
  std::uint64_t start_ns, end_ns;
};

enum class Direction : std::uint32_t { host_to_device = 1, device_to_host = 2, device_to_device = 3, host_to_host = 4 };

/// Of a Copy, or-ed.
enum CopyFlag : std::uint32_t {
  copy_pinned = 1,    ///< the host side is pinned memory; else pageable
  copy_repeated = 2,  ///< to the device, bytes that the same line of code copied between earlier marks
};

struct Copy {
  std::uint64_t destination, source, bytes;
  std::uint32_t direction;  ///< Direction
  std::uint32_t flags;      ///< CopyFlag
  std::uint32_t stream;
  std::uint32_t line;  ///< Name id of the line of code; 0 when there is no Python frame
  std::uint64_t start_ns, end_ns;
};

struct Sync {
  std::uint32_t function;  ///< Name id
  std::uint32_t stream;    ///< 0xffffffff for the whole device
  std::uint32_t line;      ///< Name id of the line of code
  std::uint32_t reserved;
  std::uint64_t waited_ns;  ///< virtual time the host waited
};

struct Mark {
  std::uint32_t index;  ///< running number; the record in marks.jsonl has the same
  std::uint32_t reserved;
};

struct StubCalls {
  std::uint32_t function;  ///< Name id
  std::uint32_t library;   ///< Name id
  std::uint64_t calls;
};

struct Collective {
  std::uint64_t bytes;
  std::uint32_t function;  ///< Name id
  std::uint32_t stream;
  std::uint32_t ranks;
  std::uint32_t reserved;
};

struct Workspace {
  std::uint64_t bytes, low, high;  ///< asked for, and the range in which the real library may ask
  std::uint32_t purpose;           ///< Name id
  std::uint32_t reserved;
};

struct Totals {
  std::uint64_t device_bytes, device_peak_bytes, pinned_bytes, pinned_peak_bytes, managed_bytes, context_bytes;
  std::uint64_t launches, dropped_records;
};

}  // namespace ullage::ulog
