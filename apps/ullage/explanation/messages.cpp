// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/explanation/explanation.hpp"
#include "ingest/oom_message/diagnosis.hpp"
#include "ingest/oom_message/oom_log.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

using ingest::OomMessage;
using report::MessageView;

std::optional<report::Between> between(const std::optional<ingest::SizeInterval>& interval) {
  if (!interval) return std::nullopt;
  return report::Between{interval->low, interval->high};
}

/// Nothing where the sizes of the text contradict each other.
std::optional<report::Between> memory(const std::optional<ingest::SizeInterval>& interval) {
  return interval && interval->high >= 0 ? between(interval) : std::nullopt;
}

void add(std::vector<report::StatedSize>& sizes, const char* id, const char* title,
         const std::optional<ingest::PrintedSize>& size) {
  if (size) sizes.push_back({id, title, size->printed, size->bytes, size->low, size->high});
}

std::vector<report::StatedSize> sizes_of(const OomMessage& message) {
  std::vector<report::StatedSize> sizes;
  add(sizes, "requested_bytes", "asked for", message.requested);
  add(sizes, "device.capacity_bytes", "capacity of the device", message.capacity);
  add(sizes, "free_bytes", "free on the device", message.free);
  add(sizes, "in_use_bytes", "in use by this process", message.in_use);
  add(sizes, "peak.allocated_bytes", "allocated by PyTorch", message.allocated);
  add(sizes, "peak.reserved_bytes", "reserved by PyTorch", message.reserved());
  add(sizes, "unallocated_bytes", "reserved, not allocated", message.unallocated);
  add(sizes, "private_pools_bytes", "idle in private pools", message.private_pools);
  add(sizes, "active_bytes", "active", message.active);
  add(sizes, "other_allocations_bytes", "held by others", message.other_allocations);
  add(sizes, "limit_bytes", "allowed", message.limit);
  return sizes;
}

report::Failure failure_of(const ingest::Diagnosis& diagnosis) {
  return {ingest::name_of(diagnosis.kind), ingest::title_of(diagnosis.kind), diagnosis.certain, diagnosis.reason,
          diagnosis.beside};
}

void add_candidates(const OomMessage& message, const ExplainOptions& options, MessageView& view) {
  if (!options.model || !message.requested) return;
  for (auto& found :
       ingest::request_candidates(*message.requested, *options.model, options.micro_batch, options.sequence))
    view.candidates.push_back({std::move(found.what), std::move(found.formula), found.bytes, found.request});
}

/// What the user gave; where that is nothing, what the log states before the message.
ExplainOptions with_stated(const ExplainOptions& given, const ingest::StatedDimensions& stated, std::uint64_t line) {
  ExplainOptions options = given;
  if (!options.model) options.model = stated.model(line);
  if (!options.micro_batch) options.micro_batch = stated.micro_batch(line);
  if (!options.sequence) options.sequence = stated.sequence(line);
  return options;
}

MessageView view_of(const OomMessage& message, const ExplainOptions& options) {
  MessageView view;
  view.wording = message.wording, view.backend = name_of(message.backend), view.torch = message.torch;
  view.origin = message.origin, view.gpu = message.gpu, view.rank = message.rank;
  view.line = message.line, view.offset = message.offset, view.times = message.times, view.cut = message.cut;
  view.sizes = sizes_of(message);
  for (const auto& process : message.processes) {
    report::HeldBy held{process.pid, process.printed, std::nullopt};
    if (process.bytes) held.bytes = process.bytes->bytes;
    view.processes.push_back(held);
  }
  view.outside_pytorch = memory(message.outside_pytorch());
  view.own_outside_pytorch = memory(message.own_outside_pytorch());
  view.other_processes = memory(message.other_processes());
  view.failure = failure_of(ingest::diagnose(message));
  add_candidates(message, options, view);
  return view;
}

void say_stated(const ExplainOptions& given, const ingest::StatedDimensions& stated, std::uint64_t line,
                report::ExplainView& view) {
  if (given.model && given.micro_batch && given.sequence) return;
  std::string text;
  for (const auto& number : stated.used(line))
    text += fmt::format("{}{} {} (line {})", text.empty() ? "" : ", ", number.key, number.value, number.line);
  if (!text.empty()) view.notes.push_back("the log states " + text + "; --model, --micro-batch and --seq go before it");
  for (const std::string& two : stated.contradictory(line))
    view.notes.push_back("the log states " + two + ": neither was taken");
}

void say_candidates(const ExplainOptions& options, report::ExplainView& view) {
  if (!options.model) return;
  if (!options.micro_batch || !options.sequence)
    view.notes.push_back("activations were not tried for the request's size: that needs --micro-batch and --seq");
  const auto& first = view.messages.front();
  if (first.candidates.empty())
    view.notes.push_back(
        "no single tensor of the model has the request's size (2 and 20 MiB stand for all small ones)");
}

}  // namespace

void explain_messages(const ingest::OomLog& log, const ExplainOptions& options, report::ExplainView& view) {
  if (log.messages.empty()) return;
  for (const OomMessage& message : log.messages)
    view.messages.push_back(view_of(message, with_stated(options, log.stated, message.line)));
  const OomMessage& first = log.messages.front();
  const auto diagnosis = ingest::diagnose(first);
  view.failure = view.messages.front().failure;
  view.sizes = view.messages.front().sizes;
  view.gpu = view.messages.front().gpu;
  view.owner.text = "the text cannot say";
  view.changes.push_back({diagnosis.change.text, {}, between(diagnosis.change.saves)});
  if (log.messages.size() > 1)
    view.notes.push_back(fmt::format("{} different messages; the first lines are of the first", log.messages.size()));
  if (log.not_kept > 0) view.notes.push_back(fmt::format("{} more messages were not kept", log.not_kept));
  say_stated(options, log.stated, first.line, view);
  say_candidates(with_stated(options, log.stated, first.line), view);
}

}  // namespace ullage::cli
