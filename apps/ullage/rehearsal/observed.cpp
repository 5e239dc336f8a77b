// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/observed.hpp"

#include "ingest/run_directory/transfers.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace ullage::cli {
namespace {

using ingest::DeviceLog;

std::string text_of(const DeviceLog& log, ingest::NameId id) {
  return std::string(log.name(id));
}

void take_unknown_reads(report::RunResult& result, const DeviceLog& log) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;
  for (const auto& interval : log.intervals)
    for (const auto& read : interval.unknown_reads) {
      auto& sum = sums[text_of(log, read.line)];
      sum.first += read.count;
      sum.second += read.bytes;
    }
  for (const auto& [line, sum] : sums) result.unknown_reads.push_back({line, sum.first, sum.second});
}

void take_stubs(report::RunResult& result, const DeviceLog& log) {
  for (const auto& stub : log.stubs)
    result.stubs.push_back({text_of(log, stub.library), text_of(log, stub.function), stub.calls});
  const auto by_name = [](const auto& a, const auto& b) {
    return std::tie(a.library, a.function) < std::tie(b.library, b.function);
  };
  std::sort(result.stubs.begin(), result.stubs.end(), by_name);
}

void take_workspaces(report::RunResult& result, const DeviceLog& log) {
  for (const auto& sum : log.workspaces)
    result.workspaces.push_back({text_of(log, sum.purpose), sum.count, sum.bytes, sum.low_bytes, sum.high_bytes});
  const auto by_purpose = [](const auto& a, const auto& b) { return a.purpose < b.purpose; };
  std::sort(result.workspaces.begin(), result.workspaces.end(), by_purpose);
}

void take_log(report::RunResult& result, const DeviceLog& log) {
  take_unknown_reads(result, log);
  take_stubs(result, log);
  take_workspaces(result, log);
  result.pinned_bytes = log.pinned_bytes;
  result.pinned_peak_bytes = log.pinned_peak_bytes;
  result.managed_bytes = log.managed_bytes;
  result.launches = log.launches;
  result.gemms = log.gemms;
}

void take_not_seen(report::RunResult& result, const std::vector<std::string>& saw) {
  const std::pair<const char*, const char*> watched[] = {
      {"evaluation", "evaluation"}, {"generation", "generation"}, {"checkpoint_save", "checkpoint saving"}};
  for (const auto& [what, name] : watched)
    if (std::find(saw.begin(), saw.end(), what) == saw.end()) result.not_seen.emplace_back(name);
}

}  // namespace

void take_observations(report::RunResult& result, const Attempt& attempt) {
  if (!attempt.run) return;
  const auto& facts = attempt.run->facts;
  for (const auto& mark : facts.marks)
    if (mark.name == ledger::MarkName::optimizer_end) result.steps = std::max(result.steps, mark.step);
  if (facts.stop) result.stop_reason = facts.stop->reason;
  take_not_seen(result, facts.saw);
  for (const auto& use : facts.policies) result.policies.push_back({use.policy, use.line, use.text});
  if (!attempt.run->device) return;
  take_log(result, *attempt.run->device);
  auto steps = ingest::transfers_by_step(*attempt.run->device, facts.marks);
  result.copies = std::move(steps.back().copies);
  result.syncs = std::move(steps.back().syncs);
}

void take_out_of_memory(report::RunResult& result, const Attempt& attempt, bool ended) {
  if (!attempt.run) return;
  const auto& facts = attempt.run->facts;
  for (const auto& oom : facts.ooms) {
    report::OutOfMemoryEvent event{oom.requested_bytes, oom.step, oom.phase, oom.module, oom.line, {}, true};
    event.caught = !ended || &oom != &facts.ooms.back();
    if (!event.caught && facts.exception && facts.exception->oom) event.text = facts.exception->text;
    result.ooms.push_back(std::move(event));
  }
  if (ended) result.requested_bytes = facts.ooms.back().requested_bytes;
}

}  // namespace ullage::cli
