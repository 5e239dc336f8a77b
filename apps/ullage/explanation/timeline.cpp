// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/explanation/explanation.hpp"
#include "base/bytes.hpp"
#include "findings/cure.hpp"
#include "findings/first_change.hpp"
#include "findings/lack.hpp"
#include "findings/owner.hpp"
#include "ingest/oom_message/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

using ingest::FailureKind;

void set_size(report::ExplainView& view, const char* id, const char* title, std::uint64_t bytes) {
  std::erase_if(view.sizes, [&](const report::StatedSize& size) { return size.id == id; });
  view.sizes.push_back({id, title, {}, bytes, bytes, bytes});
}

std::string owner_text(const findings::Owner& owner) {
  std::string text =
      fmt::format("{} hold {} of {}", owner.name, format_bytes(owner.bytes), format_bytes(owner.allocated));
  if (!owner.part.empty())
    text += fmt::format("; the largest part is {} with {}", owner.part, format_bytes(owner.part_bytes));
  return text;
}

void name_owner(const ledger::Cut& cut, report::ExplainView& view) {
  const findings::Owner owner = findings::largest_owner(cut);
  if (owner.bytes == 0) return;
  view.owner = {owner_text(owner), owner.id, owner.bytes};
}

void set_failure(report::ExplainView& view, FailureKind kind, bool certain, std::string reason) {
  std::vector<std::string> beside;
  if (view.failure) beside = std::move(view.failure->beside);
  view.failure = report::Failure{name_of(kind), title_of(kind), certain, std::move(reason), std::move(beside)};
}

/// Replayed where the requests are known: what would help is said with its outcome, what would not is a note.
void suggest_expandable(const Evidence& evidence, const findings::Lack& lack, std::size_t at,
                        report::ExplainView& view) {
  const std::string setting = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True";
  allocator::Settings settings;
  settings.sizes.expandable_segments = true;
  std::optional<findings::Cure> cure;
  if (!evidence.trace_timeline)
    cure = findings::cure_by(*evidence.timeline, evidence.initial, at, lack.reserved, settings,
                             allocator::rules_of(torch_of(evidence.run.get())));
  const auto idle = static_cast<std::int64_t>(lack.idle);
  if (!cure) {
    if (!evidence.timeline->settings.expandable_segments)
      view.changes.push_back({setting, "what lies idle", report::Between{0, idle}});
  } else if (cure->passes) {
    const auto saves = idle + static_cast<std::int64_t>(lack.allocated) + static_cast<std::int64_t>(lack.requested) -
                       static_cast<std::int64_t>(cure->peak_reserved);
    view.changes.push_back(
        {setting,
         fmt::format("replayed: the request finds room, {} reserved{}", format_bytes(cure->peak_reserved),
                     cure->start_is_exact ? "" : "; what is older than the recording was laid out anew"),
         report::Between{saves, saves}});
  } else {
    view.notes.push_back("replayed with " + setting + ": the request fails all the same");
  }
}

void add_changes(const ledger::Cut& cut, report::ExplainView& view) {
  for (auto& change : findings::changes_at(cut)) {
    const auto saves = static_cast<std::int64_t>(change.saves);
    view.changes.push_back({std::move(change.text), std::move(change.basis), report::Between{saves, saves}});
  }
}

// What the text alone knows stands: a limit, another process, a request beyond the device.
bool text_decides(const report::ExplainView& view) {
  return view.failure && (view.failure->kind == "fraction_limit" || view.failure->kind == "other_process" ||
                          view.failure->kind == "impossible_request" || view.failure->kind == "driver_fault");
}

void judge(const Evidence& evidence, const findings::Lack& lack, const ledger::Cut& cut, report::ExplainView& view) {
  const auto capacity = evidence.capacity_bytes;
  if (text_decides(view)) return;
  view.changes.clear();
  const std::string requested = format_bytes(lack.requested);
  if (capacity && lack.requested > *capacity) {
    set_failure(view, FailureKind::impossible_request, true,
                fmt::format("one request of {} is more than the device's {}", requested, format_bytes(*capacity)));
    view.changes.push_back({"find the shape behind this one request", {}, std::nullopt});
  } else if (lack.fragmented) {
    const std::string piece =
        lack.largest_piece > 0 ? "; the largest free piece has " + format_bytes(lack.largest_piece) : "";
    set_failure(view, FailureKind::fragmentation, lack.largest_piece > 0,
                fmt::format("{} allocated, {} reserved but idle, more than the {} asked for{}",
                            format_bytes(lack.allocated), format_bytes(lack.idle), requested, piece));
    suggest_expandable(evidence, lack, cut.events, view);
    if (lack.largest_piece > 0)
      view.notes.push_back("where it lies idle, and who pins it: ullage ledger " + evidence.path + " --segments");
  } else {
    set_failure(view, FailureKind::true_capacity, true,
                fmt::format("PyTorch's tensors hold {}, and {} more were asked for{}", format_bytes(lack.allocated),
                            requested, capacity ? fmt::format(" of a device with {}", format_bytes(*capacity)) : ""));
  }
  add_changes(cut, view);
}

// "activations 29.89 GiB, optimizer state 9.79 GiB, ..."
std::string parts_of(const ledger::Line& chart) {
  std::vector<ledger::Line> lines;
  if (const ledger::Line* whole = ledger::pytorch_line(chart)) lines = whole->children;
  std::erase_if(lines, [](const ledger::Line& line) { return line.id == "cached"; });
  return largest_parts(std::move(lines));
}

// Where no module is known, the line of code says more.
std::span<const ledger::Level> levels_for(const ledger::Account& account) {
  static constexpr ledger::Level by_place[] = {ledger::Level::layer, ledger::Level::operation};
  static constexpr ledger::Level by_line[] = {ledger::Level::line};
  const bool placed = std::ranges::any_of(account.labels.of, [](const auto& label) { return label.module != 0; });
  if (placed) return by_place;
  return by_line;
}

}  // namespace

void explain_timeline(const Evidence& evidence, const ExplainOptions& options, report::ExplainView& view) {
  const auto at_failure = choose_cut(evidence, "oom");
  const auto chosen = at_failure ? at_failure : choose_cut(evidence, "peak");
  if (!chosen) return;
  ledger::Line chart = ledger::chart(chosen->cut, levels_for(*evidence.account));
  if (at_failure) {
    const auto lack =
        findings::lack_at(*evidence.timeline, evidence.initial, chosen->cut.events, chosen->cut.reserved.value_or(0));
    judge(evidence, lack, chosen->cut, view);
    set_size(view, "requested_bytes", "asked for", lack.requested);
  } else if (!view.failure) {
    view.peak = fmt::format("{} allocated at {}{}", format_bytes(evidence.whole.allocated.bytes), chosen->title,
                            parts_of(chart));
  }
  name_owner(chosen->cut, view);
  if (evidence.capacity_bytes)
    set_size(view, "device.capacity_bytes", "capacity of the device", *evidence.capacity_bytes);
  set_size(view, "peak.allocated_bytes", "peak allocated", evidence.whole.allocated.bytes);
  const auto* trace = evidence.trace_timeline ? &*evidence.trace_timeline : nullptr;
  if (trace == nullptr || trace->has_totals)
    set_size(view, "peak.reserved_bytes", "peak reserved", evidence.whole.reserved.bytes);
  if (trace == nullptr)
    set_size(view, "peak.requested_bytes", "peak requested by tensors", evidence.whole.requested.bytes);
  if (options.top > 0) ledger::fold(chart, options.top);
  view.moment = chosen->title;
  view.ledger = std::move(chart);
  view.gpu = evidence.timeline->device;
}

}  // namespace ullage::cli
