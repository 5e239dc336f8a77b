// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/explanation/explanation.hpp"

#include "apps/ullage/evidence/view.hpp"

namespace ullage::cli {
namespace {

// What a run recorded of its own out-of-memory errors.
ingest::OomLog texts_of(const ingest::RunDirectory& run) {
  std::string all;
  for (const auto& oom : run.facts.ooms) all += oom.text + "\n";
  if (run.facts.exception && run.facts.exception->oom) all += run.facts.exception->text + "\n";
  auto source = ingest::Source::of(std::as_bytes(std::span(all)), run.path);
  return ingest::read_oom_log(source);
}

}  // namespace

report::ExplainView explanation_of(const Evidence& evidence, const ExplainOptions& options) {
  report::ExplainView view;
  view.source = evidence.path;
  view.format = name_of(evidence.format);
  view.producer = evidence.producer;
  view.evidence = evidence_view(evidence);
  if (evidence.oom_log) explain_messages(*evidence.oom_log, options, view);
  if (evidence.run) explain_messages(texts_of(*evidence.run), options, view);
  if (evidence.counters) {
    explain_counters(evidence, view);
  } else if (evidence.timeline != nullptr && evidence.account) {
    explain_timeline(evidence, options, view);
  } else if (!view.failure) {
    view.peak = "there is no peak to explain: the source holds no allocations";
  }
  if (view.failure && evidence.run) explain_whole_run(evidence, view);
  view.verify = verifying_command(evidence, options, view);
  return view;
}

void explain_counters(const Evidence& evidence, report::ExplainView& view) {
  const CounterPeak& counters = *evidence.counters;
  const auto add = [&](const char* id, const char* title, std::uint64_t bytes) {
    view.sizes.push_back({id, title, {}, bytes, bytes, bytes});
  };
  view.peak = counters.summary;
  view.moment = counters.moment;
  view.ledger = counters.ledger;
  view.notes = counters.notes;
  if (evidence.run_ledger) {
    add("peak.allocated_bytes", "peak allocated", evidence.run_ledger->peak.allocated);
    add("peak.reserved_bytes", "peak reserved", evidence.run_ledger->peak.reserved);
  } else if (evidence.smi_log) {
    add("peak.used_bytes", "peak used", counters.ledger.bytes);
  } else {
    add("peak.allocated_bytes", "peak allocated", counters.ledger.bytes);
  }
  if (evidence.capacity_bytes) add("device.capacity_bytes", "capacity of the device", *evidence.capacity_bytes);
}

}  // namespace ullage::cli
