// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/join.hpp"

#include <utility>

namespace ullage::ingest {

namespace {

using timeline::Action;

constexpr std::size_t max_examples = 8;

class Joiner {
 public:
  Joiner(const timeline::Timeline& timeline, const ledger::MarkCounters& start, Join& out)
      : timeline_(timeline), start_(start), out_(out), replay_(timeline, out.initial), tracker_(replay_) {}

  bool run(std::span<const ledger::Mark> marks) {
    for (const ledger::Mark& mark : marks) {
      if (!reach(mark)) return false;
      consume_followers(mark.counters);
      out_.cuts.push_back(replay_.position());
      out_.intervals.push_back(tracker_.close(replay_));
      verify(mark);
    }
    out_.evidence = replay_.evidence();
    return true;
  }

 private:
  void step() {
    const Action action = timeline_.events.action[replay_.position()];
    allocs_ += action == Action::alloc;
    frees_ += action == Action::free_requested;
    replay_.step();
    tracker_.observe(replay_);
  }

  [[nodiscard]] bool more() const { return replay_.position() < timeline_.events.count(); }

  bool reach(const ledger::Mark& mark) {
    const std::uint64_t allocs = mark.counters.allocs - std::min(mark.counters.allocs, start_.allocs);
    const std::uint64_t frees = mark.counters.frees - std::min(mark.counters.frees, start_.frees);
    while ((allocs_ < allocs || frees_ < frees) && more()) step();
    return allocs_ >= allocs && frees_ >= frees;
  }

  void consume_followers(const ledger::MarkCounters& mark) {
    while (more()) {
      const Action action = timeline_.events.action[replay_.position()];
      const bool freed = action == Action::free_completed && replay_.now().active > mark.active;
      const bool returned =
          (action == Action::segment_free || action == Action::segment_unmap) && replay_.now().reserved > mark.reserved;
      if (!freed && !returned) return;
      step();
    }
  }

  void verify(const ledger::Mark& mark) {
    const timeline::Counters& now = replay_.now();
    if (now.allocated == mark.counters.allocated && now.reserved == mark.counters.reserved) return;
    ++out_.mismatches;
    if (out_.examples.size() >= max_examples) return;
    out_.examples.push_back("mark " + std::to_string(mark.index) + ": allocated " + std::to_string(now.allocated) +
                            " replayed, " + std::to_string(mark.counters.allocated) + " stated; reserved " +
                            std::to_string(now.reserved) + " replayed, " + std::to_string(mark.counters.reserved) +
                            " stated");
  }

  const timeline::Timeline& timeline_;
  const ledger::MarkCounters& start_;
  Join& out_;
  timeline::BlockReplay replay_;
  timeline::IntervalTracker tracker_;
  std::uint64_t allocs_ = 0;
  std::uint64_t frees_ = 0;
};

Join not_joined(std::string why) {
  Join join;
  join.why_not = std::move(why);
  return join;
}

}  // namespace

Join join_marks(const timeline::Timeline& timeline, std::span<const ledger::Mark> marks,
                const std::optional<HistoryStart>& history) {
  if (!history) return not_joined("the run did not record PyTorch's memory history");
  if (timeline.overflowed) return not_joined("the memory history overflowed: its oldest events are lost");
  if (timeline.max_entries && *timeline.max_entries > 0 && timeline.events.count() >= *timeline.max_entries)
    return not_joined("the memory history is full: its oldest events may be lost");
  Join join;
  join.initial = timeline::settled_initial_state(timeline);
  if (!Joiner(timeline, history->counters, join).run(marks))
    return not_joined("the memory history ends before the counters of the marks");
  if (join.mismatches * 2 > marks.size())
    return not_joined("the replayed memory history does not agree with PyTorch's counters: " + join.examples.front());
  join.joined = true;
  return join;
}

}  // namespace ullage::ingest
