// SPDX-License-Identifier: Apache-2.0
// How fast traces are read and linked: kineto_read FILE... prints MB/s (10^6 bytes) of text, best of several runs, and
// the memory that is kept per event.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "ingest/kineto/kineto.hpp"

namespace {

std::size_t bytes_kept(const ullage::timeline::Trace& trace) {
  constexpr std::size_t call = 4 + 8 + 8 + 4 + 4 + 4 + 4 + 4 + 1 + 1 + 4, memory = 8 + 8 + 8 + 8 + 8 + 4 + 2 + 4;
  return trace.calls.count() * call + trace.memory.count() * memory;
}

bool measure(const char* path) {
  using Clock = std::chrono::steady_clock;
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 5; ++run) {
    const auto start = Clock::now();
    const auto trace = ullage::ingest::read_kineto_file(path);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    if (!trace) return std::fprintf(stderr, "%s: %s\n", path, trace.error().what.c_str()), false;
    if (run > 0) continue;
    const auto kept = trace->trace.calls.count() + trace->trace.memory.count();
    std::printf("%s: %.2f MB, %zu events kept, %.1f bytes each; ", path, megabytes, kept,
                static_cast<double>(bytes_kept(trace->trace)) / static_cast<double>(std::max<std::size_t>(kept, 1)));
  }
  std::printf("%.0f MB/s\n", megabytes / best);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool all = argc > 1;
  for (int i = 1; i < argc; ++i) all = measure(argv[i]) && all;
  return all ? 0 : 1;
}
