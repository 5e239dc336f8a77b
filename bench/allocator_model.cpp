// SPDX-License-Identifier: Apache-2.0
// How fast the allocator model serves requests, and how fast the curve of memory is rebuilt from a Timeline, beside
// textbook versions of both: bench_allocator_model SNAPSHOT [--benchmark_...]. The requests are those of a memory
// snapshot, repeated to ten million; at the end of each repetition what it left is freed and what it freed is allocated
// anew, so that each begins with the same live blocks.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocator/caching_allocator.hpp"
#include "ingest/file/source.hpp"
#include "ingest/snapshot/snapshot.hpp"
#include "timeline/block_replay.hpp"

namespace {

using namespace ullage;
using timeline::Action;
using timeline::Timeline;

constexpr std::size_t wanted = 10'000'000;  // requests, or events
constexpr std::uint64_t device_bytes = 1ULL << 50;

/// One request: of so many bytes, or the free of what stands in the slot.
struct Request {
  std::uint64_t bytes = 0;  ///< 0: a free
  std::uint64_t stream = 0;
  std::uint32_t slot = 0;
};

/// What one repetition does, between two moments with the same live blocks.
struct Workload {
  std::vector<Request> before;  ///< blocks that are older than the recording; once
  std::vector<Request> repeated;
  std::uint32_t slots = 0;
  std::size_t recorded = 0;  ///< so many of `repeated` were recorded, the others restore the beginning
};

class WorkloadMaker {
 public:
  WorkloadMaker(const Timeline& timeline, const timeline::InitialState& initial) : t_(timeline) {
    for (const auto& block : initial.blocks) {
      if (block.pending) continue;
      const Request request{std::max<std::uint64_t>(block.requested, 1), 0, made_.slots};
      made_.before.push_back(request);
      held_[block.address] = made_.slots++;
    }
  }

  Workload make() {
    for (std::size_t i = 0; i < t_.events.count(); ++i) add(i);
    made_.recorded = made_.repeated.size();
    restore();
    return std::move(made_);
  }

 private:
  void add(std::size_t i) {
    const std::uint64_t address = t_.events.address[i];
    if (t_.events.action[i] == Action::alloc) {
      held_[address] = made_.slots;
      made_.repeated.push_back({t_.events.size[i], t_.streams[t_.events.stream[i]], made_.slots++});
    } else if (t_.events.action[i] == Action::free_completed) {
      if (const auto held = held_.extract(address)) made_.repeated.push_back({0, 0, held.mapped()});
    }
  }

  void restore() {
    std::vector<std::uint32_t> left;
    for (const auto& [address, slot] : held_) left.push_back(slot);
    std::ranges::sort(left);
    for (const std::uint32_t slot : left)
      if (slot >= made_.before.size()) made_.repeated.push_back({0, 0, slot});
    for (const Request& older : made_.before)
      if (!std::ranges::binary_search(left, older.slot)) made_.repeated.push_back(older);
  }

  const Timeline& t_;
  std::unordered_map<std::uint64_t, std::uint32_t> held_;
  Workload made_;
};

/// Best fit over ordered containers, with the rounding, the segments and the splitting of PyTorch's, and no more: one
/// stream, one pool of each size class, no statistics but the two totals, nothing is given back.
class TextbookAllocator {
 public:
  using Handle = std::uint64_t;

  Handle allocate(std::uint64_t bytes, std::uint64_t) {
    const std::uint64_t size = timeline::round_size(bytes, {});
    const bool small = size <= timeline::small_bytes;
    auto found = free_[small].lower_bound({size, 0});
    if (found == free_[small].end()) found = add_segment(size, small);
    const auto [whole, address] = *found;
    free_[small].erase(found);
    Block& block = blocks_.find(address)->second;
    if (timeline::should_split(size, whole - size, small, false, {})) {
      blocks_.emplace(address + size, Block{whole - size, small, true});
      free_[small].emplace(whole - size, address + size);
      block.size = size;
    }
    block.is_free = false;
    allocated_ += block.size;
    return address;
  }

  void free(Handle address) {
    auto block = blocks_.find(address);
    allocated_ -= block->second.size;
    block->second.is_free = true;
    if (const auto next = std::next(block); next != blocks_.end()) join(block, next);
    if (block != blocks_.begin() && join(std::prev(block), block)) return;
    free_[block->second.small].emplace(block->second.size, block->first);
  }

  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  [[nodiscard]] std::uint64_t reserved() const { return reserved_; }

 private:
  struct Block {
    std::uint64_t size = 0;
    bool small = false, is_free = true;
  };
  using Blocks = std::map<std::uint64_t, Block>;
  using Free = std::set<std::pair<std::uint64_t, std::uint64_t>>;

  Free::iterator add_segment(std::uint64_t size, bool small) {
    const std::uint64_t mib = 1ULL << 20;
    const std::uint64_t bytes = small             ? 2 * mib
                                : size < 10 * mib ? 20 * mib
                                                  : (size + 2 * mib - 1) / (2 * mib) * 2 * mib;
    const std::uint64_t address = next_;
    next_ += bytes + 2 * mib;  // a gap, so that segments are not joined
    reserved_ += bytes;
    blocks_.emplace(address, Block{bytes, small, true});
    return free_[small].emplace(bytes, address).first;
  }

  // The back into the front, where both are free and touch; the front is then in the set of free blocks.
  bool join(Blocks::iterator front, Blocks::iterator back) {
    if (!front->second.is_free || !back->second.is_free || front->first + front->second.size != back->first)
      return false;
    Free& free = free_[front->second.small];
    const bool front_was_in = free.erase({front->second.size, front->first}) > 0;
    free.erase({back->second.size, back->first});
    front->second.size += back->second.size;
    blocks_.erase(back);
    if (front_was_in) free.emplace(front->second.size, front->first);
    return true;
  }

  Blocks blocks_;
  Free free_[2];
  std::uint64_t next_ = 1ULL << 40, allocated_ = 0, reserved_ = 0;
};

/// The model behind the same functions.
class Model {
 public:
  using Handle = allocator::BlockId;
  explicit Model(Timeline* history = nullptr, const char* settings = "")
      : device_(device_bytes, device_bytes), model_(*allocator::parse_settings(settings), {}, device_, history) {}
  Handle allocate(std::uint64_t bytes, std::uint64_t stream) { return *model_.allocate(bytes, stream); }
  void free(Handle block) { model_.free(block); }
  [[nodiscard]] std::uint64_t allocated() const { return model_.statistics().allocated_bytes.all.current; }
  [[nodiscard]] std::uint64_t reserved() const { return model_.statistics().reserved_bytes.all.current; }

 private:
  allocator::SimulatedDevice device_;
  allocator::CachingAllocator model_;
};

class ExpandableModel : public Model {
 public:
  ExpandableModel() : Model(nullptr, "expandable_segments:True") {}
};

template <class Allocator>
class Runner {
 public:
  Runner(Allocator& allocator, const Workload& work) : allocator_(allocator), work_(work), held_(work.slots) {
    run(work.before);
  }
  void repeat() { run(work_.repeated); }

 private:
  void run(const std::vector<Request>& requests) {
    for (const Request& request : requests) {
      if (request.bytes > 0)
        held_[request.slot] = allocator_.allocate(request.bytes, request.stream);
      else
        allocator_.free(held_[request.slot]);
    }
  }

  Allocator& allocator_;
  const Workload& work_;
  std::vector<typename Allocator::Handle> held_;
};

template <class Allocator>
void serve(benchmark::State& state, const Workload& work) {
  const std::size_t repetitions = wanted / work.repeated.size() + 1;
  for (auto _ : state) {
    Allocator allocator;
    Runner<Allocator> runner(allocator, work);
    for (std::size_t i = 0; i < repetitions; ++i) runner.repeat();
    state.counters["reserved_MiB"] = static_cast<double>(allocator.reserved() >> 20);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(repetitions * work.repeated.size()));
}

/// The history that the model writes of the repeated requests: ten million events.
Timeline history_of(const Workload& work) {
  Timeline history;
  history.events.reserve(wanted + 4 * work.repeated.size());
  Model model(&history);
  Runner<Model> runner(model, work);
  while (history.events.count() < wanted) runner.repeat();
  return history;
}

/// What was allocated and reserved after each event; bytes.
struct Curve {
  explicit Curve(std::size_t events) : allocated(events), reserved(events) {}
  std::vector<std::uint64_t> allocated, reserved;
};

Curve replayed_curve(const Timeline& history) {
  Curve curve(history.events.count());
  timeline::BlockReplay replay(history, {});
  for (std::size_t i = 0; replay.step(); ++i)
    curve.allocated[i] = replay.now().allocated, curve.reserved[i] = replay.now().reserved;
  return curve;
}

/// The sizes of live blocks in an ordered map, rounded to 512 bytes: what is handed out beyond that is not seen.
Curve textbook_curve(const Timeline& history) {
  const auto& events = history.events;
  Curve curve(events.count());
  std::map<std::uint64_t, std::uint64_t> live;
  std::uint64_t allocated = 0, reserved = 0;
  for (std::size_t i = 0; i < events.count(); ++i) {
    if (events.action[i] == Action::alloc) allocated += live[events.address[i]] = (events.size[i] + 511) / 512 * 512;
    if (events.action[i] == Action::free_requested) allocated -= live.extract(events.address[i]).mapped();
    if (events.action[i] == Action::segment_alloc) reserved += events.size[i];
    if (events.action[i] == Action::segment_free) reserved -= events.size[i];
    curve.allocated[i] = allocated, curve.reserved[i] = reserved;
  }
  return curve;
}

void rebuild(benchmark::State& state, const Timeline& history, Curve (*rebuilt)(const Timeline&)) {
  for (auto _ : state) {
    const Curve curve = rebuilt(history);
    state.counters["peak_MiB"] = static_cast<double>(std::ranges::max(curve.allocated) >> 20);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(history.events.count()));
}

template <class Run>
void add(const char* name, Run run) {
  benchmark::RegisterBenchmark(name, run)->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) return std::fprintf(stderr, "usage: bench_allocator_model SNAPSHOT [--benchmark_...]\n"), 2;
  const auto snapshot = ingest::Source::open(argv[1]).and_then(
      [](ingest::Source source) { return ingest::read_snapshot(source.rest()); });
  if (!snapshot) return std::fprintf(stderr, "%s: %s\n", argv[1], snapshot.error().what.c_str()), 2;
  const Timeline& recorded = snapshot->timeline;
  const Workload work = WorkloadMaker(recorded, timeline::settled_initial_state(recorded)).make();
  if (work.repeated.empty()) return std::fprintf(stderr, "%s: no events\n", argv[1]), 2;
  std::printf("%s: %zu older blocks, %zu requests recorded, %zu more to restore the beginning\n", argv[1],
              work.before.size(), work.recorded, work.repeated.size() - work.recorded);
  const Timeline history = history_of(work);
  add("requests/model", [&](benchmark::State& state) { serve<Model>(state, work); });
  add("requests/model with expandable segments", [&](benchmark::State& state) { serve<ExpandableModel>(state, work); });
  add("requests/textbook", [&](benchmark::State& state) { serve<TextbookAllocator>(state, work); });
  add("curve/timeline", [&](benchmark::State& state) { rebuild(state, history, replayed_curve); });
  add("curve/textbook", [&](benchmark::State& state) { rebuild(state, history, textbook_curve); });
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
