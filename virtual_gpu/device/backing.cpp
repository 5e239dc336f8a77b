// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/backing.hpp"

#include <sys/mman.h>

namespace ullage::vgpu {
namespace {

constexpr std::uint64_t smallest_window = 64ull << 30;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

Backing::Backing(std::uint64_t base, std::uint64_t window) : base_(base) {
  // Less where the address space is limited (ulimit -v, small virtual machines).
  for (; window >= smallest_window && !reserved_; window /= 4) reserved_ = try_reserve(window);
}

Backing::~Backing() {
  if (reserved_) munmap(pointer(base_), 2 * window_bytes_);
}

bool Backing::try_reserve(std::uint64_t window_bytes) {
  void* got = mmap(pointer(base_), 2 * window_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  if (got != pointer(base_)) {  // a kernel before 4.17 takes the flag for a hint
    munmap(got, 2 * window_bytes);
    return false;
  }
  madvise(got, 2 * window_bytes, MADV_DONTDUMP);
  window_bytes_ = window_bytes;
  return true;
}

bool Backing::open(std::uint64_t address, std::uint64_t bytes) {
  return mprotect(pointer(address), bytes, PROT_READ | PROT_WRITE) == 0;
}

void Backing::close(std::uint64_t address, std::uint64_t bytes) {
  madvise(pointer(address), bytes, MADV_DONTNEED);
  mprotect(pointer(address), bytes, PROT_NONE);
}

}  // namespace ullage::vgpu
