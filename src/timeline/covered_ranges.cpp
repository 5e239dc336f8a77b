// SPDX-License-Identifier: Apache-2.0
#include "timeline/covered_ranges.hpp"

#include <algorithm>
#include <numeric>

namespace ullage::timeline {

namespace {

class Builder {
 public:
  explicit Builder(const Allocations& allocations) : allocations_(allocations), order_(allocations.count()) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, {}, [&](AllocationId id) { return allocations_.address[id]; });
  }

  FinalState run() {
    for (const AllocationId id : order_) {
      if (allocations_.size[id] > ~std::uint64_t{0} - allocations_.address[id]) continue;
      if (out_.segments.empty() || allocations_.address[id] > end_) open(allocations_.address[id]);
      end_ = std::max(end_, allocations_.address[id] + allocations_.size[id]);
      if (allocations_.completed[id] == Allocations::never) place(id);
    }
    close();
    return std::move(out_);
  }

 private:
  void open(std::uint64_t address) {
    close();
    Segment segment;
    segment.address = address;
    segment.expandable = true;
    segment.first_block = out_.blocks.size();
    out_.segments.push_back(segment);
    filled_ = end_ = address;
  }

  void close() {
    if (out_.segments.empty()) return;
    fill_to(end_);
    Segment& segment = out_.segments.back();
    segment.bytes = end_ - segment.address;
    segment.block_count = out_.blocks.size() - segment.first_block;
  }

  void fill_to(std::uint64_t address) {
    if (address > filled_) out_.blocks.push_back({filled_, address - filled_, 0, BlockState::inactive, no_stack});
    filled_ = address;
  }

  void place(AllocationId id) {
    if (allocations_.address[id] < filled_) return;  // contradicts a live neighbour
    fill_to(allocations_.address[id]);
    const bool pending = allocations_.freed[id] != Allocations::never;
    out_.blocks.push_back({allocations_.address[id], allocations_.size[id], allocations_.requested[id],
                           pending ? BlockState::pending_free : BlockState::allocated, allocations_.stack[id]});
    filled_ = allocations_.address[id] + allocations_.size[id];
  }

  const Allocations& allocations_;
  std::vector<AllocationId> order_;
  FinalState out_;
  std::uint64_t end_ = 0;     ///< of the open segment
  std::uint64_t filled_ = 0;  ///< its blocks reach so far
};

}  // namespace

FinalState covered_ranges(const Allocations& allocations) {
  return Builder(allocations).run();
}

}  // namespace ullage::timeline
