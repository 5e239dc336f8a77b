// SPDX-License-Identifier: Apache-2.0
#include "allocator/replay.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>
#include <vector>

namespace ullage::allocator {
namespace {

using timeline::Action;
using timeline::InitialBlock;
using timeline::Timeline;

constexpr std::uint64_t no_limit = 1ULL << 50;

// Gives the recorded addresses of new segments, one after the other; made-up ones when they are used up.
class RecordedAddresses final : public address_space::AddressSpace {
 public:
  explicit RecordedAddresses(const Timeline& timeline) {
    for (std::size_t i = 0; i < timeline.events.count(); ++i)
      if (timeline.events.action[i] == Action::segment_alloc) addresses_.push_back(timeline.events.address[i]);
  }
  std::optional<Address> allocate(std::uint64_t bytes) override {
    bytes = address_space::round_up(bytes, address_space::granularity);
    if (addresses_.empty()) {
      next_ -= bytes;
    } else {
      next_ = addresses_.front();
      addresses_.pop_front();
    }
    sizes_[next_] = bytes;
    return next_;
  }
  std::uint64_t release(Address address) override {
    const auto found = sizes_.extract(address);
    return found.empty() ? 0 : found.mapped();
  }

 private:
  std::deque<Address> addresses_;
  std::unordered_map<Address, std::uint64_t> sizes_;
  Address next_ = 1ULL << 46;
};

class Replay {
 public:
  Replay(const Timeline& timeline, const timeline::InitialState& initial, const ReplayOptions& options)
      : t_(timeline),
        initial_(initial),
        options_(options),
        device_(options.available.value_or(no_limit), options.total.value_or(options.available.value_or(no_limit)),
                addresses()),
        model_(options.settings, options.rules, device_) {}

  Replayed run() {
    start();
    note_peaks(0);
    const std::size_t end = std::min(t_.events.count(), options_.until);
    for (std::size_t i = 0; i < end && !result_.failure; ++i) step(i);
    result_.end_allocated = allocated(), result_.end_reserved = reserved();
    result_.retries = model_.statistics().num_alloc_retries;
    return result_;
  }

 private:
  [[nodiscard]] std::uint64_t allocated() const { return model_.statistics().allocated_bytes.all.current; }
  [[nodiscard]] std::uint64_t reserved() const { return model_.statistics().reserved_bytes.all.current; }

  [[nodiscard]] std::unique_ptr<address_space::AddressSpace> addresses() const {
    if (options_.recorded_addresses) return std::make_unique<RecordedAddresses>(t_);
    return address_space::native_linux({1ULL << 46, 1ULL << 47});
  }

  // --- the start ---

  void start() {
    const bool expandable = options_.settings.sizes.expandable_segments ||
                            std::ranges::any_of(initial_.ranges, [](const auto& range) { return range.expandable; });
    if (!expandable) {
      adopt();
      return;
    }
    result_.start_is_exact = initial_.blocks.empty();
    for (const InitialBlock& block : initial_.blocks) {
      const auto id = model_.allocate(std::max<std::uint64_t>(block.requested, 1), stream_at(block.address));
      if (id) held_[block.address] = *id;
      if (!id && !result_.failure) fail(0, block.size);
    }
  }

  [[nodiscard]] Stream stream_at(std::uint64_t address) const {
    const auto after = std::ranges::upper_bound(t_.segments, address, {}, &timeline::Segment::address);
    if (after == t_.segments.begin()) return 0;
    const auto& segment = *std::prev(after);
    return address < segment.address + segment.bytes ? t_.stream_number(segment.stream) : 0;
  }

  void adopt() {
    std::size_t next = 0;
    for (const timeline::Range& range : initial_.ranges) {
      SegmentView segment{range.address, range.bytes, stream_at(range.address), 0, range.small, false, {}};
      std::uint64_t at = range.address;
      const std::uint64_t end = range.address + range.bytes;
      while (next < initial_.blocks.size() && initial_.blocks[next].address < range.address) ++next;
      for (; next < initial_.blocks.size() && initial_.blocks[next].address < end; ++next) {
        const InitialBlock& block = initial_.blocks[next];
        if (block.address < at || block.size > end - block.address) continue;
        if (block.address > at) segment.blocks.push_back({no_block, at, block.address - at, 0, {}});
        segment.blocks.push_back(
            {no_block, block.address, block.size, block.requested, timeline::BlockState::allocated});
        at = block.address + block.size;
      }
      if (at < end) segment.blocks.push_back({no_block, at, end - at, 0, {}});
      model_.adopt(segment);
      for (const BlockView& block : segment.blocks)
        if (block.state == timeline::BlockState::allocated) held_[block.address] = block.id;
    }
    for (const InitialBlock& block : initial_.blocks)
      if (const auto found = held_.find(block.address); block.pending && found != held_.end())
        model_.begin_free(found->second), pending_.insert(held_.extract(found));
  }

  // --- the events ---

  void step(std::size_t i) {
    const std::uint64_t address = t_.events.address[i], size = t_.events.size[i];
    const Stream stream = t_.stream_number(t_.events.stream[i]);
    switch (t_.events.action[i]) {
      case Action::alloc:
        give_back_what_nobody_asked_for();
        allocate(i, address, size, stream);
        break;
      case Action::free_requested:
        request_free(i, address);
        break;
      case Action::free_completed:
        complete_free(address);
        break;
      case Action::segment_free:
      case Action::segment_unmap:
        given_back_ += size;
        break;
      case Action::segment_alloc:
      case Action::segment_map:
        take_segment(size);
        break;
      case Action::oom:
        given_back_ = 0;
        try_failed(i, size, stream);
        break;
      default:
        break;
    }
  }

  void allocate(std::size_t i, std::uint64_t address, std::uint64_t size, Stream stream) {
    if (size == 0 || size > timeline::max_request_bytes) return;
    const auto id = model_.allocate(size, stream);
    if (!id) {
      fail(i, timeline::round_size(size, options_.settings.sizes));
      return;
    }
    held_[address] = *id;
    note_peaks(i);
  }

  // A free that is completed later waits for other streams; one that is completed at once does not.
  void request_free(std::size_t i, std::uint64_t address) {
    auto found = held_.find(address);
    if (found == held_.end()) return;
    const bool at_once = i + 1 < t_.events.count() && t_.events.action[i + 1] == Action::free_completed &&
                         t_.events.address[i + 1] == address;
    if (at_once) return;
    model_.begin_free(found->second);
    pending_.insert(held_.extract(found));
  }

  void complete_free(std::uint64_t address) {
    if (const auto waiting = pending_.extract(address)) {
      model_.end_free(waiting.mapped());
    } else if (const auto held = held_.extract(address)) {
      model_.free(held.mapped());
    }
  }

  // Memory was given back and a segment was taken: for that request, if there was no room beside what was reserved.
  void take_segment(std::uint64_t size) {
    const bool needed = recorded_reserved_ + size > most_reserved_;
    if (given_back_ > 0 && needed) given_back_ = 0;
    recorded_reserved_ += size;
    most_reserved_ = std::max(most_reserved_, recorded_reserved_ - std::min(recorded_reserved_, given_back_));
    give_back_what_nobody_asked_for();
  }

  void give_back_what_nobody_asked_for() {
    if (given_back_ == 0) return;
    recorded_reserved_ -= std::min(recorded_reserved_, given_back_);
    given_back_ = 0;
    model_.empty_cache();
  }

  // The request that failed in the source: the block's size is known, what came after it is not.
  void try_failed(std::size_t i, std::uint64_t size, Stream stream) {
    ++result_.recorded_failures;
    if (size == 0 || size > timeline::max_request_bytes) return;
    const auto id = model_.allocate(size, stream);
    if (!id) {
      fail(i, size);
      return;
    }
    ++result_.recorded_failures_pass;
    note_peaks(i);
    model_.free(*id);
  }

  void fail(std::size_t i, std::uint64_t size) {
    ReplayFailure failure{i, size, model_.failed_bytes(), allocated(), reserved(), 0};
    for (const SegmentView& segment : model_.segments())
      for (const BlockView& block : segment.blocks)
        if (block.state == timeline::BlockState::inactive && segment.small == (size <= timeline::small_bytes))
          failure.largest_free = std::max(failure.largest_free, block.size);
    result_.failure = failure;
  }

  void note_peaks(std::size_t i) {
    if (allocated() > result_.peak_allocated)
      result_.peak_allocated = allocated(), result_.reserved_at_peak_allocated = reserved();
    if (reserved() > result_.peak_reserved) result_.peak_reserved = reserved(), result_.peak_reserved_event = i;
  }

  const Timeline& t_;
  const timeline::InitialState& initial_;
  const ReplayOptions& options_;
  SimulatedDevice device_;
  CachingAllocator model_;
  Replayed result_;
  std::unordered_map<std::uint64_t, BlockId> held_, pending_;
  std::uint64_t given_back_ = 0;         // by the source, since its last request
  std::uint64_t recorded_reserved_ = 0;  // what was taken during the recording
  std::uint64_t most_reserved_ = 0;
};

}  // namespace

std::uint64_t available_at_failure(const Timeline& timeline, std::size_t at, std::uint64_t reserved) {
  return reserved + timeline.events.address[at];
}

Replayed replay(const Timeline& timeline, const timeline::InitialState& initial, const ReplayOptions& options) {
  return Replay(timeline, initial, options).run();
}

}  // namespace ullage::allocator
