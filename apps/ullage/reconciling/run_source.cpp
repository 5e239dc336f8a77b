// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/reconciling/source.hpp"

#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/evidence/view.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/open.hpp"
#include "apps/ullage/history/stored_result.hpp"
#include "apps/ullage/planning/of_run.hpp"
#include "apps/ullage/reconciling/column_time.hpp"
#include "ingest/file/source.hpp"
#include "ledger/owners.hpp"
#include "ledger/reconciliation.hpp"
#include "store/json_text.hpp"
#include "store/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace ullage::cli {
namespace {

using ledger::KnownBy;
using ledger::Line;
using store::at;

// --- the configuration ---

/// Bytes of an element of `float32`, `bfloat16`, `int8`; 0 for other names.
std::uint64_t element_bytes(const std::string& dtype) {
  const auto digit = std::ranges::find_if(dtype, [](char c) { return c >= '0' && c <= '9'; });
  std::uint64_t bits = 0;
  std::from_chars(dtype.data() + (digit - dtype.begin()), dtype.data() + dtype.size(), bits);
  return bits / 8;
}

/// How many parameters the named tensors have; a shared storage counts once.
std::uint64_t parameters_of(const ingest::RunFacts& facts) {
  std::set<std::uint64_t> counted;
  std::uint64_t number = 0;
  for (const auto& list : facts.lists)
    for (const auto& tensor : list.tensors) {
      if (tensor.tensor_class != ledger::TensorClass::parameter) continue;
      const std::uint64_t size = element_bytes(tensor.dtype);
      if (size > 0 && counted.insert(tensor.address).second) number += tensor.bytes / size;
    }
  return number;
}

/// False for a record whose time is none.
bool take_record(ReconcileSource& source, store::Record record) {
  if (!record.summary.gpu.empty()) source.facts[fact::gpu] = record.summary.gpu;
  if (!record.summary.torch.empty()) source.facts[fact::torch] = short_version(record.summary.torch);
  const auto run = store::parse_object(record.source.run_json, record.summary.directory);
  const auto* time = run ? at(&*run, "time") : nullptr;
  const bool timed = at(time, "seconds") != nullptr;
  if (timed) source.column.time = column_time(*time, "measured");
  source.record = std::move(record);
  return !timed || source.column.time;
}

/// Of a Hugging Face model: what it is and how it is trained, in the words of `ullage plan`.
void take_setup(ReconcileSource& source, const ingest::RunFacts& facts) {
  if (const auto config = store::parse_object(facts.setup->config, "config"))
    source.facts[fact::model] = store::text_of(at(&*config, "model_type"));
  if (const auto shape = input_shape(facts.setup->shapes)) {
    source.facts[fact::micro_batch] = std::to_string(shape->micro_batch);
    source.facts[fact::sequence] = std::to_string(shape->sequence);
  }
  const auto flags = plan_flags_of(facts, gpus().front(), 0);  // of any GPU: it is no part of these
  for (const char* key : {fact::precision, fact::optimizer, fact::attention, fact::checkpoint, fact::accumulate}) {
    const auto flag = std::ranges::find(flags, std::string("--") + key);
    if (flag != flags.end()) source.facts[key] = *(flag + 1);
  }
}

void take_evidence_facts(ReconcileSource& source, const Evidence& evidence) {
  if (evidence.gpu != nullptr) source.facts[fact::gpu] = evidence.gpu->short_name;
  if (!evidence.run) return;
  const ingest::RunFacts& facts = evidence.run->whole_facts();
  if (facts.process && !facts.process->torch.empty()) source.facts[fact::torch] = short_version(facts.process->torch);
  if (const std::uint64_t number = parameters_of(facts); number > 0)
    source.facts[fact::parameters] = std::to_string(number);
  if (facts.setup) take_setup(source, facts);
  if (auto record = read_record(directory_with_result(source.column.source).string()))
    (void)take_record(source, std::move(*record));
}

// --- the ledgers ---

/// Activations and temporaries by module and operator, as a plan has them; the others by kind.
Line detailed_chart(const ledger::Cut& cut) {
  constexpr ledger::Level kinds[] = {ledger::Level::kind}, places[] = {ledger::Level::layer, ledger::Level::operation};
  Line chart = ledger::chart(cut, kinds);
  const Line placed = ledger::chart(cut, places);
  for (Line& account : ledger::accounts_of(chart))
    if (account.id == "activations" || account.id == "temporaries")
      if (const Line* found = ledger::find(placed, account.id)) account = *found;
  return chart;
}

Totals totals_of(const Evidence& evidence) {
  if (!evidence.run) return {evidence.whole.allocated.bytes, evidence.whole.reserved.bytes, 0};
  ledger::RunInput input = evidence.run->ledger_input();
  if (evidence.run->whole) {
    input.history = {};
    input.marks = evidence.run->whole->marks;
    input.device_bytes = {};
  }
  const auto built = ledger::build(input);
  if (!built) return {};
  const bool known = evidence.run->device || evidence.run->device_peak_bytes > 0;
  return {built->peak.allocated, built->peak.reserved, known ? built->peak.used : 0};
}

/// What is named at the end of the phase with the highest peak, in the sizes that were asked for.
Line named_states(const Evidence& evidence) {
  const auto& phase = evidence.run_ledger->phases[evidence.run_ledger->allocated_peak_phase];
  return ledger::states_line(
      ledger::owned_by_sizes(evidence.input.lists, phase.end_mark, phase.peak_allocated, ledger::OwnedSizes::requested),
      evidence.known_by());
}

Result<void> take_moment(ReconcileSource& source, const Evidence& evidence, ReconcileMoment moment) {
  const auto chosen = choose_cut(evidence, moment == ReconcileMoment::fullest ? "fullest" : "peak");
  if (!chosen) return tl::unexpected(chosen.error());
  source.ledger = detailed_chart(chosen->cut);
  source.column.moment = chosen->title;
  source.limits.moment = phase_of_moment(chosen->title);
  return {};
}

Result<ReconcileSource> evidence_source(const std::string& argument, ReconcileMoment moment) {
  const auto opened = open_whole_run_or_file(argument);
  if (!opened) return tl::unexpected(opened.error());
  const Evidence& evidence = **opened;
  ReconcileSource source;
  const bool rehearsal = evidence.run && !evidence.run->facts.recording;
  source.column = {rehearsal ? "rehearsal" : "measured", evidence.path, {}, evidence.producer, {}};
  source.limits.context_estimated = rehearsal;
  take_evidence_facts(source, evidence);
  const bool has_moments = evidence.timeline != nullptr && evidence.account;
  if (!has_moments && !(evidence.run && evidence.run_ledger))
    return choose_cut(evidence, "peak").and_then([](const ChosenCut&) -> Result<ReconcileSource> {
      return fail(ErrorKind::internal, "a ledger without allocations");
    });
  if (has_moments) {
    if (const auto taken = take_moment(source, evidence, moment); !taken) return tl::unexpected(taken.error());
  } else {
    source.column.moment = "the peaks of the whole run: it has no memory history";
  }
  source.totals = totals_line(totals_of(evidence), evidence.run_ledger ? named_states(evidence) : *source.ledger);
  source.partial = evidence.quality.partial;
  for (const std::string& missing : evidence.quality.missing)
    if (source.partial) source.notes.push_back(source.column.source + " is partial: " + missing);
  return source;
}

// --- results without evidence ---

Result<ReconcileSource> result_source(store::Record record, const std::string& where) {
  auto result = stored_result(record.source.run_json, where);
  if (!result) return tl::unexpected(result.error());
  const auto refused = [&](const char* why) { return fail(ErrorKind::bad_input, why, where, "the result of a run"); };
  if (!result->ledger || !ledger::check(*result->ledger).empty())
    return refused("this result has no ledger that adds up");
  if (!ledger::is_named(*result->ledger)) return refused("a line of this result has no name");
  ReconcileSource source;
  const bool rehearsal = record.summary.kind == "rehearsal";
  source.column = {rehearsal ? "rehearsal" : "measured",
                   where,
                   result->ledger_of,
                   record.summary.kind + ", torch " + record.summary.torch,
                   {}};
  source.limits = {false, rehearsal, phase_of_moment(result->ledger_of)};
  const report::PeakInfo peak = result->peak.value_or(report::PeakInfo{});
  source.totals = totals_line({peak.allocated, peak.reserved, peak.used}, *result->ledger);
  if (result->below_peak == 0) source.ledger = std::move(*result->ledger);
  if (!take_record(source, std::move(record))) return refused("the time of this result is none");
  return source;
}

/// Of a run whose directory is gone.
std::optional<Result<ReconcileSource>> gone_source(const std::string& argument) {
  const auto place = resolve_run(argument, RunPart::result);
  if (!place || place->id.empty() || is_run_directory(place->directory)) return std::nullopt;
  return open_record(argument).and_then([](store::Record record) { return result_source(record, record.summary.id); });
}

/// Of a file that holds what `rehearse --json` printed.
std::optional<Result<ReconcileSource>> file_source(const std::string& argument) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(argument, error)) return std::nullopt;
  auto file = ingest::Source::open(argument);
  if (!file || !file->head(1).starts_with('{')) return std::nullopt;
  const auto bytes = file->rest();
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto json = store::parse_object(text, argument);
  if (!json || store::text_of(at(&*json, "command")) != "rehearse") return std::nullopt;
  return store::record_of({argument, argument, 0, text}).and_then([&](store::Record record) {
    return result_source(std::move(record), argument);
  });
}

}  // namespace

std::string phase_of_moment(const std::string& moment) {
  const auto in = moment.find(", in ");
  if (in == moment.npos) return "";
  const std::string phase = moment.substr(in + 5);
  if (!phase.starts_with("step ")) return phase;
  const std::string name = phase.substr(phase.rfind(' ') + 1);
  return phase.starts_with("step 1 ") ? name + " of the first step" : name;
}

Line totals_line(const Totals& totals, const Line& chart) {
  std::vector<Line> lines;
  std::uint64_t named = 0;
  KnownBy known_by = KnownBy::measured;
  for (const char* id : {"parameters", "optimizer_state"})
    if (const Line* line = ledger::find(chart, id); line != nullptr && line->bytes <= totals.allocated - named) {
      lines.push_back(*line);
      named += line->bytes;
      known_by = std::max(known_by, line->known_by);
    }
  lines.push_back(
      {"everything_else", "everything else that is allocated", totals.allocated - named, known_by, {}, {}, 0});
  const std::uint64_t reserved = std::max(totals.reserved, totals.allocated);
  lines.push_back({"cached", "cached, not allocated", reserved - totals.allocated, known_by, {}, {}, 0});
  Line memory = ledger::sum_line("reserved", "PyTorch reserved", known_by, std::move(lines));
  if (totals.used < memory.bytes) return memory;
  Line outside{
      "outside_pytorch", "outside PyTorch, the CUDA context included", totals.used - memory.bytes, known_by, {}, {}, 0};
  return ledger::sum_line("used", "used on the device", known_by, {std::move(memory), std::move(outside)});
}

Result<ReconcileSource> run_source(const std::string& argument, ReconcileMoment moment) {
  if (auto source = file_source(argument)) return std::move(*source);
  if (auto source = gone_source(argument)) return std::move(*source);
  return evidence_source(argument, moment);
}

}  // namespace ullage::cli
