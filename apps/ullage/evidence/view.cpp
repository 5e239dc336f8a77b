// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/view.hpp"

namespace ullage::cli {

report::EvidenceView evidence_view(const Evidence& evidence) {
  return {evidence.quality.partial, evidence.quality.overflowed, evidence.quality.missing,
          evidence.quality.contradictions};
}

report::MomentView moment_view(const Evidence& evidence, const ChosenCut& chosen) {
  report::MomentView view;
  view.source = evidence.path;
  view.format = name_of(evidence.format);
  view.producer = evidence.producer;
  view.moment = chosen.title;
  view.device = evidence.timeline->device;
  view.peak_allocated = evidence.whole.allocated.bytes;
  const bool trace = evidence.trace_timeline.has_value();
  if (!trace || evidence.trace_timeline->has_totals) view.peak_reserved = evidence.whole.reserved.bytes;
  if (!trace) view.peak_requested = evidence.whole.requested.bytes;
  view.capacity_bytes = evidence.capacity_bytes;
  view.evidence = evidence_view(evidence);
  return view;
}

report::LedgerView counters_view(const Evidence& evidence) {
  report::LedgerView view;
  view.source = evidence.path;
  view.format = name_of(evidence.format);
  view.producer = evidence.producer;
  view.moment = evidence.counters->moment;
  if (evidence.run_ledger) {
    view.peak_allocated = evidence.run_ledger->peak.allocated;
    view.peak_reserved = evidence.run_ledger->peak.reserved;
    view.peak_requested = evidence.run_ledger->peak.requested;
  } else {
    (evidence.smi_log ? view.peak_used : view.peak_allocated) = evidence.counters->ledger.bytes;
  }
  view.capacity_bytes = evidence.capacity_bytes;
  view.ledger = evidence.counters->ledger;
  view.evidence = evidence_view(evidence);
  return view;
}

}  // namespace ullage::cli
