// SPDX-License-Identifier: Apache-2.0
#include "planner/step_plan.hpp"

#include "allocator/caching_allocator.hpp"
#include "allocator/device.hpp"

#include <algorithm>
#include <limits>

namespace ullage::planner {
namespace {

using program::Event;
using program::Mark;
using program::Program;

constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;
// As wide as the addresses of a process: a plan may need more than any device has. From the top down, as a driver.
constexpr address_space::Window addresses{0x000100000000, 0x7f0000000000};

/// The allocator, and which block each tensor has.
class Execution {
 public:
  Execution(const Program& program, const allocator::Rules& rules, std::optional<std::uint64_t> available)
      : program_(program),
        device_(available.value_or(no_limit), available.value_or(no_limit), address_space::native_linux(addresses)),
        allocator_(allocator::Settings{}, rules, device_),
        blocks_(program.tensors.size()),
        bytes_(program.tensors.size()) {}

  /// False when there was no memory.
  bool step(Event event) {
    const program::TensorId id = program::tensor_of(event);
    if (!program::is_request(event)) {
      allocator_.free(blocks_[id]);
      return true;
    }
    const auto block = allocator_.allocate(program_.tensors[id].bytes);
    if (!block) return false;
    blocks_[id] = *block;
    bytes_[id] = allocator_.block(*block).size;
    return true;
  }
  [[nodiscard]] std::uint64_t allocated() const { return allocator_.statistics().allocated_bytes.all.current; }
  [[nodiscard]] std::uint64_t reserved() const { return allocator_.statistics().reserved_bytes.all.current; }
  [[nodiscard]] std::uint64_t retries() const { return allocator_.statistics().num_alloc_retries; }
  [[nodiscard]] std::uint64_t failed_bytes() const { return allocator_.failed_bytes(); }
  [[nodiscard]] std::uint64_t block_bytes(program::TensorId id) const { return bytes_[id]; }

 private:
  const Program& program_;
  allocator::SimulatedDevice device_;
  allocator::CachingAllocator allocator_;
  std::vector<allocator::BlockId> blocks_;
  std::vector<std::uint64_t> bytes_;  ///< of each tensor's block
};

/// What is the most so far, and when.
struct Peak {
  std::uint64_t bytes = 0, beside = 0;
  std::size_t event = 0;
  void see(std::uint64_t now, std::uint64_t also, std::size_t at) {
    if (now > bytes || (now == bytes && also > beside)) *this = {now, also, at};
  }
};

/// What is alive after an event; a block keeps its size as long as its tensor lives.
std::vector<LiveTensor> live_at(const Program& program, const Execution& execution, std::size_t last) {
  std::vector<bool> alive(program.tensors.size());
  for (std::size_t i = 0; i <= last; ++i)
    alive[program::tensor_of(program.events[i])] = program::is_request(program.events[i]);
  std::vector<LiveTensor> live;
  for (program::TensorId id = 0; id < alive.size(); ++id)
    if (alive[id]) live.push_back({id, execution.block_bytes(id)});
  return live;
}

/// Bytes of live blocks, and the most so far.
class Level {
 public:
  /// Through events of the program; the most on the way.
  std::uint64_t go(const Program& program, std::size_t event, std::size_t end) {
    std::uint64_t most = now_;
    for (; event < end; ++event) {
      const std::uint64_t bytes = (program.tensors[program::tensor_of(program.events[event])].bytes + 511) / 512 * 512;
      now_ = program::is_request(program.events[event]) ? now_ + bytes : now_ - bytes;
      most = std::max(most, now_);
    }
    most_ = std::max(most_, most);
    return most;
  }
  /// The same once, and `more` times again: each time the level rises or falls by as much.
  void repeat(const Program& program, std::size_t event, std::size_t end, std::uint32_t more) {
    const std::uint64_t before = now_, most = go(program, event, end);
    const bool rises = now_ > before;
    const std::uint64_t change = more * (rises ? now_ - before : before - now_);
    now_ = rises ? now_ + change : now_ - change;
    if (rises) most_ = std::max(most_, most + change);
  }
  [[nodiscard]] std::uint64_t most() const { return most_; }

 private:
  std::uint64_t now_ = 0, most_ = 0;
};

}  // namespace

Moment moment_at(const Program& program, std::size_t event) {
  Moment moment;
  for (const Mark& mark : program.marks)
    if (mark.event <= event) moment = {mark.phase, mark.step, mark.micro_batch, {}, {}};
  // the operator of the last request up to here
  for (std::size_t i = event + 1; i-- > 0;)
    if (program::is_request(program.events[i])) {
      const program::Operator& by = program.operators[program.tensors[program::tensor_of(program.events[i])].by];
      moment.module = program.module_path(by.module);
      moment.operation = by.name;
      break;
    }
  return moment;
}

StepPlan run_program(const Program& program, const allocator::Rules& rules, std::optional<std::uint64_t> available) {
  StepPlan plan;
  Execution execution(program, rules, available);
  Peak allocated, reserved;
  std::size_t mark = 0;
  for (std::size_t i = 0; i < program.events.size(); ++i) {
    while (mark < program.marks.size() && program.marks[mark].event <= i) {
      plan.phases.push_back({program.marks[mark].phase, program.marks[mark].step, program.marks[mark].micro_batch,
                             execution.allocated(), execution.reserved(), execution.allocated(), execution.reserved()});
      ++mark;
    }
    if (!execution.step(program.events[i])) {
      plan.shortage = Shortage{moment_at(program, i), execution.failed_bytes()};
      break;
    }
    const std::uint64_t now = execution.allocated(), held = execution.reserved();
    allocated.see(now, held, i);
    reserved.see(held, now, i);
    PhasePeak& phase = plan.phases.back();
    phase.allocated = now, phase.reserved = held;
    phase.peak_allocated = std::max(phase.peak_allocated, now);
    phase.peak_reserved = std::max(phase.peak_reserved, held);
  }
  plan.retries = execution.retries();
  plan.peak_allocated = allocated.bytes, plan.peak_reserved = reserved.bytes;
  if (reserved.bytes == 0) return plan;
  plan.allocated_at = moment_at(program, allocated.event);
  plan.reserved_at = moment_at(program, reserved.event);
  plan.live = live_at(program, execution, reserved.event);
  plan.lines = lines_of(program, plan.live, reserved.bytes);
  return plan;
}

std::uint64_t peak_of_requests(const Program& program) {
  Level level;
  return level.go(program, 0, program.events.size());
}

std::uint64_t peak_of_requests(const program::Folded& folded) {
  const Program& program = folded.program;
  const auto begin = [&](std::size_t stretch) { return folded.stretches[stretch].event; };
  const auto end = [&](std::size_t stretches) { return folded.end_of(stretches - 1).event; };
  Level level;
  for (std::size_t i = 0; i < folded.stretches.size(); ++i) {
    const auto passage = folded.fold.more > 0 ? program::passage_from(folded, i) : std::nullopt;
    if (!passage) {
      level.go(program, begin(i), end(i + 1));
      continue;
    }
    const auto& [first, middle, last, up] = *passage;
    if (!up) level.go(program, begin(first), end(middle));
    level.repeat(program, begin(up ? first : middle), end(up ? middle : last), folded.fold.more);
    if (up) level.go(program, begin(middle), end(last));
    i = last - 1;
  }
  return level.most();
}

}  // namespace ullage::planner
