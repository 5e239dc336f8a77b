// SPDX-License-Identifier: Apache-2.0
// `ullage replay`: the recorded requests through the allocator model, with other settings or another amount of memory.
#include "allocator/replay.hpp"
#include "allocator/candidates.hpp"
#include "apps/ullage/command.hpp"
#include "apps/ullage/device.hpp"
#include "apps/ullage/evidence/evidence.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/output.hpp"
#include "base/bytes.hpp"
#include "findings/lack.hpp"
#include "report/replay_view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

allocator::Settings recorded_settings(const Evidence& evidence) {
  allocator::Settings settings;
  settings.sizes = evidence.timeline->settings;
  return settings;
}

std::string spelled(const timeline::AllocatorSettings& sizes) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  if (sizes.expandable_segments) add("expandable_segments:True");
  if (sizes.max_split_bytes != timeline::AllocatorSettings{}.max_split_bytes)
    add(fmt::format("max_split_size_mb:{}", sizes.max_split_bytes >> 20));
  if (std::ranges::any_of(sizes.roundup_power2_divisions, [](auto divisions) { return divisions > 1; }))
    add("roundup_power2_divisions:...");
  return text;
}

/// What the rows are replayed on.
struct Bench {
  const Evidence& evidence;
  std::optional<std::uint64_t> available, capacity;
};

std::string place_of(const Evidence& evidence, std::size_t event) {
  if (evidence.run_ledger) {
    const auto& cuts = evidence.run->join.cuts;
    for (const auto& phase : evidence.run_ledger->phases)
      if (event < cuts[phase.end_mark]) return "in " + ledger::title_of(phase);
  }
  return fmt::format("at event {} of {}", event, evidence.timeline->events.count());
}

allocator::Replayed replayed(const Bench& bench, const allocator::Settings& settings) {
  allocator::ReplayOptions options;
  options.settings = settings;
  options.rules = allocator::rules_of(torch_of(bench.evidence.run.get()));
  options.available = bench.available;
  if (bench.available) options.total = bench.capacity;
  return allocator::replay(*bench.evidence.timeline, bench.evidence.initial, options);
}

report::ReplayRow row_of(const Bench& bench, const std::string& setting, const allocator::Settings& settings) {
  const auto result = replayed(bench, settings);
  report::ReplayRow row;
  row.setting = setting;
  row.peak_allocated = result.peak_allocated, row.peak_reserved = result.peak_reserved;
  row.unused_at_peak = result.reserved_at_peak_allocated - result.peak_allocated;
  row.retries = result.retries;
  row.recorded_failures = result.recorded_failures, row.recorded_failures_pass = result.recorded_failures_pass;
  if (const auto& failure = result.failure)
    row.failure = {failure->from_device,  failure->allocated, failure->reserved,
                   failure->largest_free, failure->event,     place_of(bench.evidence, failure->event)};
  return row;
}

/// The one that has enough memory, or has it for longer; then the one that takes less.
bool better(const report::ReplayRow& left, const report::ReplayRow& right) {
  if (left.failure.has_value() != right.failure.has_value()) return !left.failure;
  if (left.failure && left.failure->event != right.failure->event) return left.failure->event > right.failure->event;
  return std::pair(left.peak_reserved, left.retries) < std::pair(right.peak_reserved, right.retries);
}

/// Capacity less the context and what other libraries held when memory was fullest.
std::optional<std::uint64_t> available(const Evidence& evidence, std::optional<std::uint64_t> capacity) {
  if (!capacity) return std::nullopt;
  std::uint64_t outside = evidence.gpu != nullptr ? context_bytes(*evidence.gpu) : 0;
  if (evidence.run_ledger)
    if (const auto* line = ledger::find(evidence.run_ledger->used, "outside_pytorch")) outside += line->bytes;
  return *capacity > outside ? *capacity - outside : 0;
}

std::optional<std::uint64_t> recorded_limit(const Evidence& evidence) {
  const auto at = timeline::last_out_of_memory(*evidence.timeline);
  if (!at) return std::nullopt;
  const auto lack = findings::lack_at(*evidence.timeline, evidence.initial, *at);
  return allocator::available_at_failure(*evidence.timeline, *at, lack.reserved);
}

void check_model(const Evidence& evidence, report::ReplayView& view) {
  allocator::ReplayOptions options;
  options.settings = recorded_settings(evidence);
  options.rules = allocator::rules_of(torch_of(evidence.run.get()));
  options.available = recorded_limit(evidence);
  options.recorded_addresses = true;
  const auto result = allocator::replay(*evidence.timeline, evidence.initial, options);
  view.recorded_peak_reserved = evidence.whole.reserved.bytes;
  view.reproduced = result.peak_reserved == view.recorded_peak_reserved;
  view.start_is_exact = result.start_is_exact;
  if (!evidence.initial.blocks.empty())
    view.notes.push_back(
        "blocks older than the recording stand where they were; with expandable segments they are laid out anew");
}

Result<void> add_settings(const Bench& bench, const std::vector<std::string>& texts, report::ReplayView& view) {
  for (const std::string& text : texts) {
    const auto settings = allocator::parse_settings(text);
    if (!settings) return tl::unexpected(settings.error());
    view.rows.push_back(row_of(bench, text, *settings));
  }
  return {};
}

std::vector<std::string> worth_trying(const Bench& bench, const report::ReplayRow& recorded) {
  const Evidence& evidence = bench.evidence;
  return allocator::settings_to_search({recorded_settings(evidence), torch_of(evidence.run.get()),
                                        allocator::largest_segment(*evidence.timeline, evidence.initial),
                                        recorded.peak_reserved, bench.capacity});
}

Result<ExitCode> print_replay(const Evidence& evidence, const Arguments& arguments) {
  if (evidence.timeline == nullptr || evidence.timeline->events.count() == 0 || evidence.trace_timeline)
    return fail(ErrorKind::bad_input, "no requests are recorded here in order, with their sizes", evidence.path,
                "a run directory, or a memory snapshot with its history");
  report::ReplayView view;
  view.source = evidence.path, view.producer = evidence.producer;
  view.recorded_settings = spelled(evidence.timeline->settings);
  view.capacity_bytes = arguments.size("memory");
  if (!view.capacity_bytes) view.capacity_bytes = evidence.capacity_bytes;
  view.available_bytes = available(evidence, view.capacity_bytes);
  check_model(evidence, view);
  const Bench bench{evidence, view.available_bytes, view.capacity_bytes};
  view.rows.push_back(row_of(bench, "", recorded_settings(evidence)));
  if (const auto added = add_settings(bench, arguments.texts("setting"), view); !added)
    return tl::unexpected(added.error());
  if (arguments.given("search")) {
    if (const auto added = add_settings(bench, worth_trying(bench, view.rows.front()), view); !added)
      return tl::unexpected(added.error());
    std::stable_sort(view.rows.begin() + 1, view.rows.end(), better);
  }
  const std::string text = arguments.given("json") ? report::replay_json(view) : report::replay_text(view);
  const bool fails = std::ranges::all_of(view.rows.size() > 1 ? std::span(view.rows).subspan(1) : std::span(view.rows),
                                         [](const auto& row) { return row.failure.has_value(); });
  return print_result(text).map([fails] { return fails ? ExitCode::no : ExitCode::yes; });
}

Result<ExitCode> run_replay(const Arguments& arguments) {
  return open_one(arguments, "ullage replay").and_then([&](const auto& evidence) {
    return print_replay(*evidence, arguments);
  });
}

constexpr Flag replay_flags[] = {
    {"setting", "KEY:VALUE,...", "allocator settings, as in PYTORCH_CUDA_ALLOC_CONF; may be given several times",
     FlagKind::text},
    {"search", "", "try the settings that people use and that can change something here, the best first",
     FlagKind::toggle},
    {"memory", "SIZE", "total memory that CUDA shows, context included, instead of the recorded device's",
     FlagKind::size},
    store_flag,
    json_flag,
};

}  // namespace

const Command replay_command{
    "replay",
    "what PyTorch's allocator would have reserved with other settings",
    "RUN|FILE [FLAGS]",
    "Runs the recorded requests through a model of PyTorch's caching allocator: what would have been reserved, and "
    "where\n"
    "memory would have run out. Ends with 1 when no row after the recorded one (or that, alone) has enough memory.",
    {replay_flags, 1, false},
    run_replay};

}  // namespace ullage::cli
