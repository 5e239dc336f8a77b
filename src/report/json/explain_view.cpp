// SPDX-License-Identifier: Apache-2.0
#include "report/explain_view.hpp"

#include "report/json/difference_view.hpp"
#include "report/json/findings.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"

#include <algorithm>
#include <string_view>

namespace ullage::report {
namespace {

void write_between(JsonWriter& json, std::string_view name, const std::optional<Between>& between) {
  if (!between) return;
  json.begin_object(name);
  json.field("low_bytes", between->low);
  json.field("high_bytes", between->high);
  json.end_object();
}

void write_failure(JsonWriter& json, const Failure& failure) {
  json.begin_object("failure");
  json.field("kind", std::string_view(failure.kind));
  json.field("certain", failure.certain);
  json.field("text", std::string_view(failure.title + ": " + failure.reason));
  write_texts(json, "beside", failure.beside);
  json.end_object();
}

// The sizes with this prefix (`peak.`) as fields; an empty prefix takes those without a dot.
void write_group(JsonWriter& json, const std::vector<StatedSize>& sizes, std::string_view prefix) {
  for (const StatedSize& size : sizes) {
    const std::string_view id = size.id;
    const auto dot = id.find('.');
    if (prefix.empty() ? dot != id.npos : !id.starts_with(prefix)) continue;
    json.field(id.substr(prefix.size()), size.bytes);
  }
}

bool has_group(const std::vector<StatedSize>& sizes, std::string_view prefix) {
  return std::ranges::any_of(sizes, [&](const StatedSize& size) { return size.id.starts_with(prefix); });
}

void write_sizes(JsonWriter& json, const std::vector<StatedSize>& sizes, const std::optional<int>& gpu) {
  if (gpu || has_group(sizes, "device.")) {
    json.begin_object("device");
    if (gpu) json.field("index", *gpu);
    write_group(json, sizes, "device.");
    json.end_object();
  }
  if (has_group(sizes, "peak.")) {
    json.begin_object("peak");
    write_group(json, sizes, "peak.");
    json.end_object();
  }
  write_group(json, sizes, "");
  if (std::ranges::none_of(sizes, [](const StatedSize& size) { return size.low != size.high; })) return;
  json.begin_object("intervals");
  for (const StatedSize& size : sizes) {
    if (size.printed.empty()) continue;
    json.begin_object(size.id);
    json.field("printed", std::string_view(size.printed));
    json.field("low_bytes", size.low);
    json.field("high_bytes", size.high);
    json.end_object();
  }
  json.end_object();
}

void write_processes(JsonWriter& json, const MessageView& message) {
  if (message.processes.empty()) return;
  json.begin_array("processes");
  for (const HeldBy& process : message.processes) {
    json.begin_object();
    json.field("pid", std::string_view(process.pid));
    json.field("printed", std::string_view(process.printed));
    if (process.bytes) json.field("bytes", *process.bytes);
    json.end_object();
  }
  json.end_array();
}

void write_candidates(JsonWriter& json, const MessageView& message) {
  json.begin_array("request_candidates");
  for (const Candidate& candidate : message.candidates) {
    json.begin_object();
    json.field("what", std::string_view(candidate.what));
    json.field("formula", std::string_view(candidate.formula));
    json.field("bytes", candidate.bytes);
    json.field("request_bytes", candidate.request);
    json.end_object();
  }
  json.end_array();
}

void write_message(JsonWriter& json, const MessageView& message) {
  json.begin_object();
  json.field("wording", std::string_view(message.wording));
  json.field("backend", std::string_view(message.backend));
  if (!message.torch.empty()) json.field("torch", std::string_view(message.torch));
  if (message.rank) json.field("rank", *message.rank);
  if (!message.origin.empty()) json.field("origin", std::string_view(message.origin));
  json.field("line", message.line);
  json.field("offset", message.offset);
  json.field("times", message.times);
  json.field("cut", message.cut);
  write_sizes(json, message.sizes, message.gpu);
  write_processes(json, message);
  write_between(json, "outside_pytorch", message.outside_pytorch);
  write_between(json, "own_outside_pytorch", message.own_outside_pytorch);
  write_between(json, "other_processes", message.other_processes);
  write_failure(json, message.failure);
  write_candidates(json, message);
  json.end_object();
}

void write_changes(JsonWriter& json, const std::vector<Suggestion>& changes) {
  json.begin_array("changes");
  for (const Suggestion& change : changes) {
    json.begin_object();
    json.field("text", std::string_view(change.text));
    if (!change.basis.empty()) json.field("basis", std::string_view(change.basis));
    write_between(json, "saves", change.saves);
    json.end_object();
  }
  json.end_array();
}

void write_whole_run(JsonWriter& json, const WholeRun& whole) {
  json.begin_object("without_limit");
  json.field("needed_bytes", whole.needed);
  json.field("missing_bytes", whole.missing);
  write_changes(json, whole.changes);
  json.end_object();
}

void write_owner(JsonWriter& json, const OwnerView& owner) {
  if (owner.text.empty()) return;
  json.begin_object("owner");
  json.field("text", std::string_view(owner.text));
  if (!owner.id.empty()) json.field("id", std::string_view(owner.id));
  if (!owner.id.empty()) json.field("bytes", owner.bytes);
  json.end_object();
}

void write_last_fit(JsonWriter& json, const LastFit& last) {
  json.begin_object("last_fit");
  json.field("id", std::string_view(last.id));
  json.field("name", std::string_view(last.name));
  json.field("kind", std::string_view(last.kind));
  json.field("started", std::string_view(last.started));
  write_texts(json, "script", last.command);
  if (!last.moment.empty()) json.field("moment", std::string_view(last.moment));
  json.field("peak_allocated_bytes", last.peak_allocated);
  if (last.settings_known) write_settings(json, last.settings);
  if (last.difference) write_difference(json, *last.difference, "difference");
  json.end_object();
}

void write_view(JsonWriter& json, const ExplainView& view) {
  json.field("source", std::string_view(view.source));
  json.field("format", std::string_view(view.format));
  json.field("producer", std::string_view(view.producer));
  if (view.failure) json.field("verdict", "oom");
  if (view.failure) write_failure(json, *view.failure);
  write_owner(json, view.owner);
  if (view.failure) write_changes(json, view.changes);
  if (view.whole) write_whole_run(json, *view.whole);
  if (!view.peak.empty()) json.field("summary", std::string_view(view.peak));
  write_sizes(json, view.sizes, view.gpu);
  if (!view.messages.empty()) {
    json.begin_array("messages");
    for (const MessageView& message : view.messages) write_message(json, message);
    json.end_array();
  }
  if (view.ledger) json.field("moment", std::string_view(view.moment));
  if (view.ledger) write_line(json, *view.ledger, "ledger");
  write_findings(json, view.found);
  if (view.last_fit) write_last_fit(json, *view.last_fit);
  write_evidence(json, view.evidence);
  write_texts(json, "notes", view.notes);
  if (!view.verify.empty()) json.field("verify", std::string_view(view.verify));
}

}  // namespace

std::string explain_json(const std::vector<ExplainView>& views) {
  JsonWriter json;
  json.begin_result("explain");
  if (views.size() == 1) {
    write_view(json, views.front());
  } else {
    json.begin_array("results");
    for (const ExplainView& view : views) {
      json.begin_object();
      write_view(json, view);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
