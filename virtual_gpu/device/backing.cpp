// SPDX-License-Identifier: Apache-2.0
#include "virtual_gpu/device/backing.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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
  madvise(got, 2 * window_bytes, MADV_NOHUGEPAGE);  // a byte that is written costs 4 KiB, not 2 MiB
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

std::uint64_t Backing::resident_bytes(std::uint64_t address, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  static std::array<unsigned char, 1 << 18> pages;  // the caller holds the machine's lock
  std::uint64_t found = 0;
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address - address % page; at < end; at += pages.size() * page) {
    const std::uint64_t part = std::min(end - at, pages.size() * page);
    if (mincore(pointer(at), part, pages.data()) != 0) continue;
    const auto used = static_cast<std::ptrdiff_t>((part + page - 1) / page);
    found +=
        static_cast<std::uint64_t>(std::count_if(pages.begin(), pages.begin() + used, [](auto p) { return p & 1; }));
  }
  return found * page;
}

}  // namespace ullage::vgpu
