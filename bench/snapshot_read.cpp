// SPDX-License-Identifier: Apache-2.0
// How fast snapshots are read and replayed: snapshot_read FILE... prints MB/s (10^6 bytes), best of several runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>

#include "ingest/file/mapped_file.hpp"
#include "ingest/snapshot/pickle.hpp"
#include "ingest/snapshot/snapshot.hpp"
#include "timeline/block_replay.hpp"

namespace {

using Clock = std::chrono::steady_clock;

template <class Work>
double best_seconds(Work work) {
  double best = std::numeric_limits<double>::max();
  for (int run = 0; run < 10; ++run) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

bool measure(const char* path) {
  using namespace ullage;
  const auto file = ingest::MappedFile::open(path);
  const auto snapshot = ingest::read_snapshot_file(path);
  if (!file || !snapshot) {
    std::fprintf(stderr, "%s: cannot be read\n", path);
    return false;
  }
  const timeline::Timeline& t = snapshot->timeline;
  const double megabytes = static_cast<double>(file->bytes().size()) / 1e6;
  const double pickle = best_seconds([&] { (void)pickle::read(file->bytes()); });
  const double whole = best_seconds([&] { (void)ingest::read_snapshot(file->bytes()); });
  const timeline::InitialState initial = timeline::settled_initial_state(t);
  const double replay = best_seconds([&] { timeline::BlockReplay(t, initial).advance_to(t.events.count()); });
  std::printf("%s: %.2f MB, %zu events; pickle %.0f MB/s, timeline %.0f MB/s, replay %.1f million events/s\n", path,
              megabytes, t.events.count(), megabytes / pickle, megabytes / whole,
              static_cast<double>(t.events.count()) / replay / 1e6);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool all = argc > 1;
  for (int i = 1; i < argc; ++i) all = measure(argv[i]) && all;
  return all ? 0 : 1;
}
