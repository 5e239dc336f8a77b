// SPDX-License-Identifier: Apache-2.0
// Runs programs of requests through the allocator model: one operation a line on stdin, a JSON line for each `report`.
//
//   torch VERSION            the rules of the allocators from here on
//   device FREE TOTAL        a new device and allocator
//   settings TEXT | fraction SHARE | alloc ID BYTES STREAM | free ID | record ID STREAM | busy STREAM | idle STREAM
//   empty | pool_begin POOL STREAM | pool_end POOL | pool_release POOL | report
#include <fmt/format.h>

#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "allocator/caching_allocator.hpp"

namespace {

using namespace ullage;
using namespace ullage::allocator;

class Driver {
 public:
  bool run(const std::string& line) {
    if (!run_operation(line)) return false;
    if (!line.starts_with("torch") && !line.starts_with("device") && !line.starts_with("settings") &&
        !line.starts_with("fraction"))
      note_state();
    return true;
  }

 private:
  bool run_operation(const std::string& line) {
    std::istringstream words(line);
    std::string operation;
    words >> operation;
    if (operation == "torch") return rules_ = rules_of(parse_torch_version(line.substr(6))), true;
    if (operation == "device") return start(words);
    if (operation == "settings") return configure(line.substr(line.find(' ') + 1));
    if (operation == "fraction") return set_fraction(words);
    if (operation == "alloc") return allocate(words);
    const std::uint64_t first = number(words);
    if (operation == "free") return give_back(first);
    if (operation == "record") return record(first, number(words));
    if (operation == "busy" || operation == "idle") return model_->set_busy(first, operation == "busy"), true;
    if (operation == "empty") return model_->empty_cache(), true;
    if (operation == "pool_begin") return model_->begin_pool(pool(first), number(words), PoolUse::requests), true;
    if (operation == "pool_end") return model_->end_pool(pool(first)), true;
    if (operation == "pool_release") return model_->release_pool(pool(first)), true;
    if (operation == "report") return report(), true;
    return false;
  }

  static std::uint64_t number(std::istringstream& words) {
    std::uint64_t value = 0;
    words >> value;
    return value;
  }
  static PoolId pool(std::uint64_t number) { return static_cast<PoolId>(number); }

  bool start(std::istringstream& words) {
    const std::uint64_t free = number(words), total = number(words);
    model_.reset();
    device_ = std::make_unique<SimulatedDevice>(free, total);
    model_ = std::make_unique<CachingAllocator>(Settings{}, rules_, *device_);
    held_.clear(), failed_.clear(), states_.clear();
    return true;
  }

  bool configure(const std::string& text) {
    const auto settings = parse_settings(text);
    if (!settings) {
      std::cerr << settings.error().what << ": " << settings.error().where << '\n';
      return false;
    }
    model_->set_settings(*settings);
    return true;
  }

  bool set_fraction(std::istringstream& words) {
    double fraction = 1;
    words >> fraction;
    model_->set_memory_fraction(fraction);
    return true;
  }

  bool allocate(std::istringstream& words) {
    const std::uint64_t id = number(words), bytes = number(words), stream = number(words);
    if (const auto block = model_->allocate(bytes, stream))
      held_[id] = *block;
    else
      failed_.push_back(id);
    return true;
  }

  bool give_back(std::uint64_t id) {
    if (const auto found = held_.find(id); found != held_.end()) {
      model_->free(found->second);
      held_.erase(found);
    }
    return true;
  }

  bool record(std::uint64_t id, std::uint64_t stream) {
    if (const auto found = held_.find(id); found != held_.end()) model_->record_stream(found->second, stream);
    return true;
  }

  static void add(std::string& text, const char* name, const Stat& stat) {
    text += fmt::format(R"("{}":[{},{},{},{}],)", name, stat.current, stat.peak, stat.allocated, stat.freed);
  }
  static void add(std::string& text, const std::string& name, const PoolStat& stat) {
    add(text, (name + ".all").c_str(), stat.all);
    add(text, (name + ".small_pool").c_str(), stat.small);
    add(text, (name + ".large_pool").c_str(), stat.large);
  }

  [[nodiscard]] std::string statistics() const {
    const Statistics& s = model_->statistics();
    std::string text;
    add(text, "allocation", s.allocation), add(text, "segment", s.segment), add(text, "active", s.active);
    add(text, "inactive_split", s.inactive_split), add(text, "allocated_bytes", s.allocated_bytes);
    add(text, "reserved_bytes", s.reserved_bytes), add(text, "active_bytes", s.active_bytes);
    add(text, "inactive_split_bytes", s.inactive_split_bytes), add(text, "requested_bytes", s.requested_bytes);
    add(text, "oversize_allocations", s.oversize_allocations), add(text, "oversize_segments", s.oversize_segments);
    return text + fmt::format(R"("num_alloc_retries":{},"num_ooms":{},"num_sync_all_streams":{},)"
                              R"("num_device_alloc":{},"num_device_free":{})",
                              s.num_alloc_retries, s.num_ooms, s.num_sync_all_streams, s.num_device_alloc,
                              s.num_device_free);
  }

  [[nodiscard]] std::string segments() const {
    constexpr const char* states[] = {"inactive", "active_allocated", "active_pending_free"};
    std::string text;
    for (const SegmentView& segment : model_->segments()) {
      std::string blocks;
      for (const BlockView& block : segment.blocks)
        blocks += fmt::format("{}[{},{},\"{}\"]", blocks.empty() ? "" : ",", block.size, block.requested,
                              states[static_cast<std::size_t>(block.state)]);
      text += fmt::format(R"({}{{"address":{},"bytes":{},"stream":{},"small":{},"expandable":{},"blocks":[{}]}})",
                          text.empty() ? "" : ",", segment.address, segment.bytes, segment.stream, segment.small,
                          segment.expandable, blocks);
    }
    return text;
  }

  void report() {
    std::string failed;
    for (const std::uint64_t id : failed_) failed += (failed.empty() ? "" : ",") + std::to_string(id);
    std::cout << fmt::format(R"({{"failed":[{}],"statistics":{{{}}},"segments":[{}],"states":[{}]}})", failed,
                             statistics(), segments(), states_)
              << '\n';
  }

  void note_state() {
    const Statistics& s = model_->statistics();
    states_ +=
        fmt::format("{}[{},{},{},{}]", states_.empty() ? "" : ",", s.allocated_bytes.all.current,
                    s.reserved_bytes.all.current, s.active_bytes.all.current, s.inactive_split_bytes.all.current);
  }

  Rules rules_;
  std::unique_ptr<SimulatedDevice> device_;
  std::unique_ptr<CachingAllocator> model_;
  std::map<std::uint64_t, BlockId> held_;
  std::vector<std::uint64_t> failed_;
  std::string states_;  ///< after each operation
};

}  // namespace

int main() {
  Driver driver;
  std::uint64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (driver.run(line)) continue;
    std::cerr << "line " << number << " is no operation: " << line << '\n';
    return 2;
  }
  return 0;
}
