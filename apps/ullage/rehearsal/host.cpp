// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/host.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>

namespace ullage::cli {
namespace {

using ingest::HostFacts;
using ledger::KnownBy;

/// Bytes of PyTorch's memory history per allocation and its release, with Python's stacks. Measured with torch 2.11 as
/// the growth of resident memory: 370 (stacks of 4 frames) to 1310 (of 30 and more); tests/rehearse/test_host.py.
constexpr std::uint64_t history_entry_bytes = 900;
/// The same of the record of operators, while it is made: 1,900 to 2,130 with names alone, 3,650 to 3,820 with shapes.
std::uint64_t operator_entry_bytes(const RehearsalOptions& options) {
  return options.operators == "shapes" ? 4000 : 2000;
}

std::uint64_t difference(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

std::uint64_t machine_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) : 0;
}

const HostFacts* end_of_run(const Attempt& attempt) {
  if (!attempt.run) return nullptr;
  for (const auto& facts : attempt.run->facts.host)
    if (facts.at_the_end) return &facts;
  return nullptr;
}

/// The highest moment of the run. What comes after its end (the snapshot is written) is not the script's.
const MemoryMoment* highest(const Attempt& attempt) {
  const auto& highs = attempt.outcome.memory.highs;
  const HostFacts* end = end_of_run(attempt);
  const MemoryMoment* found = nullptr;
  for (const auto& moment : highs)
    if (found == nullptr || end == nullptr || moment.time_ns <= end->time_ns) found = &moment;
  return found;
}

/// What the process held when the sum was highest: the last look before it, or the first.
HostFacts facts_at(const Attempt& attempt, std::uint64_t time_ns) {
  HostFacts found;
  if (!attempt.run) return found;
  for (const auto& facts : attempt.run->facts.host)
    if (facts.time_ns <= time_ns) found = facts;
  return found;
}

ledger::Line line(std::string id, std::string name, std::uint64_t bytes, KnownBy known) {
  ledger::Line made;
  made.id = std::move(id);
  made.name = std::move(name);
  made.bytes = bytes;
  made.known_by = known;
  return made;
}

std::vector<ledger::Line> lines_of(const report::HostMemory& host, const MemoryMoment& moment, const HostFacts& facts) {
  const std::uint64_t spike = difference(host.seen_bytes, moment.bytes());
  const std::uint64_t own = host.device_pages_bytes + host.recording_bytes;
  std::vector<ledger::Line> lines;
  lines.push_back(line("anonymous", "heap and other private memory", difference(moment.anonymous + spike, own),
                       host.recording_bytes > 0 ? KnownBy::estimated : KnownBy::measured));
  lines.push_back(line("shared_memory", "shared memory", moment.shared_memory, KnownBy::measured));
  lines.push_back(line("mapped_files", "mapped files (libraries, data)", moment.mapped_files, KnownBy::measured));
  lines.push_back(line("pinned_untouched", "pinned memory that nothing touched here",
                       difference(facts.pinned_bytes, facts.pinned_touched_bytes), KnownBy::measured));
  return lines;
}

void take_processes(report::HostMemory& host, const Attempt& attempt) {
  const std::int64_t script = attempt.run && attempt.run->facts.process ? attempt.run->facts.process->pid : 0;
  const HostFacts* end = end_of_run(attempt);
  for (const auto& process : attempt.outcome.memory.processes) {
    report::HostProcess made;
    made.name = process.name;
    made.script = process.pid == script;
    made.resident_bytes = made.script && end ? end->peak_resident_bytes : process.peak_resident;
    made.own_bytes = difference(process.anonymous + process.shared_memory, process.common);
    host.processes.push_back(std::move(made));
  }
}

/// Within the run, the script's own peak is known from the kernel also between two looks.
std::uint64_t seen(const Attempt& attempt, const MemoryMoment& moment) {
  const HostFacts* end = end_of_run(attempt);
  return std::max(moment.bytes(), end ? end->peak_resident_bytes : 0);
}

std::uint64_t median(std::vector<std::uint64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

using Inputs = std::map<std::uint32_t, report::StepInput>;

void take_loads(Inputs& inputs, const ingest::RunFacts& facts) {
  std::map<std::uint32_t, std::vector<std::uint64_t>> times;
  for (const auto& loads : facts.loads)
    times[loads.step].insert(times[loads.step].end(), loads.ns.begin(), loads.ns.end());
  for (const auto& [step, ns] : times) {
    if (step == 0) continue;
    report::StepInput& input = inputs[step];
    input.loads = ns.size();
    input.median_load_ns = median(ns);
    for (const auto time : ns) input.total_load_ns += time;
  }
}

void add_copy(report::StepInput& input, const ingest::CopySum& copy) {
  (copy.pinned ? input.pinned_copies : input.pageable_copies) += copy.count;
  (copy.pinned ? input.pinned_bytes : input.pageable_bytes) += copy.bytes;
  input.waited += copy.waited;
  input.simulated_ns += copy.duration_ns;
}

/// Copies lie between marks. Those before the first step's forward belong to loading the model, unless a batch was
/// loaded; that is not told apart: the first step counts from its forward.
void take_copies(Inputs& inputs, const ingest::RunFacts& facts, const ingest::DeviceLog& log) {
  std::map<std::uint32_t, const ledger::Mark*> marks;
  for (const auto& mark : facts.marks) marks.emplace(mark.index, &mark);
  std::uint32_t step = 0;  // of the interval: the one that comes after the last optimizer step
  for (const auto& interval : log.intervals) {
    const auto found = interval.end_mark ? marks.find(*interval.end_mark) : marks.end();
    if (found == marks.end() || found->second->name == ledger::MarkName::run_end) continue;
    const ledger::Mark& mark = *found->second;
    const bool loading = step == 0 && mark.name == ledger::MarkName::forward_begin;
    step = mark.step;
    if (loading || step == 0) continue;
    for (const auto& copy : interval.copies)
      if (copy.direction == ulog::Direction::host_to_device) add_copy(inputs[step], copy);
  }
}

}  // namespace

void take_host_memory(report::RunResult& result, const RehearsalOptions& options, const Attempt& attempt) {
  const MemoryMoment* moment = highest(attempt);
  if (moment == nullptr) return;
  const HostFacts* end = end_of_run(attempt);
  report::HostMemory host;
  host.seen_bytes = seen(attempt, *moment);
  const HostFacts facts = host.seen_bytes > moment->bytes() && end ? *end : facts_at(attempt, moment->time_ns);
  host.device_pages_bytes = facts.device_pages_bytes;
  host.recording_bytes = facts.hook_bytes + history_entry_bytes * facts.history_entries +
                         operator_entry_bytes(options) * facts.operator_entries;
  host.lines = lines_of(host, *moment, facts);
  for (const auto& part : host.lines) host.needed_bytes += part.bytes;
  host.capacity_given = options.host_bytes > 0;
  host.capacity_bytes = host.capacity_given ? options.host_bytes : machine_bytes();
  host.fits = host.needed_bytes <= host.capacity_bytes;
  host.looks = attempt.outcome.memory.looks;
  const double wall = std::max(1.0, static_cast<double>(attempt.outcome.wall.count()));
  host.watch_share = static_cast<double>(attempt.outcome.memory.cpu_time.count()) / 1e6 / wall;
  take_processes(host, attempt);
  result.host_memory = std::move(host);
}

void take_inputs(report::RunResult& result, const Attempt& attempt) {
  if (!attempt.run) return;
  const auto& facts = attempt.run->facts;
  result.pinning = {facts.pinning.times, facts.pinning.requested_bytes, facts.pinning.taken_bytes};
  Inputs inputs;
  take_loads(inputs, facts);
  if (attempt.run->device) take_copies(inputs, facts, *attempt.run->device);
  for (auto& [step, input] : inputs) {
    input.step = step;
    result.inputs.push_back(input);
  }
}

}  // namespace ullage::cli
