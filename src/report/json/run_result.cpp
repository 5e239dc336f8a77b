// SPDX-License-Identifier: Apache-2.0
#include "report/json/run_result.hpp"

#include "report/json/device.hpp"
#include "report/json/findings.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/ledger_lines.hpp"
#include "report/json/plan_view.hpp"

namespace ullage::report {
namespace {

void text_field(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.field(name, std::string_view(value));
}

void bytes_field(JsonWriter& json, std::string_view name, const std::optional<std::uint64_t>& value) {
  if (value) json.field(name, *value);
}

void write_stack(JsonWriter& json, const StackInfo& stack) {
  json.begin_object("stack");
  text_field(json, "torch", stack.torch);
  text_field(json, "cuda", stack.cuda);
  text_field(json, "python", stack.python);
  json.end_object();
}

void write_peak(JsonWriter& json, const PeakInfo& peak) {
  json.begin_object("peak");
  json.field("allocated_bytes", peak.allocated);
  json.field("reserved_bytes", peak.reserved);
  json.field("requested_bytes", peak.requested);
  json.field("used_bytes", peak.used);
  if (peak.step > 0) json.field("step", peak.step);
  text_field(json, "phase", peak.phase);
  text_field(json, "where", peak.where);
  json.end_object();
}

void write_phase(JsonWriter& json, const ledger::Phase& phase) {
  json.begin_object();
  if (phase.step > 0) json.field("step", phase.step);
  if (phase.micro_batch > 0) json.field("micro_batch", phase.micro_batch);
  json.field("name", ledger::name_of(phase.name));
  json.field("allocated_bytes", phase.allocated);
  json.field("reserved_bytes", phase.reserved);
  json.field("peak_allocated_bytes", phase.peak_allocated);
  json.field("peak_reserved_bytes", phase.peak_reserved);
  if (phase.seconds > 0) json.field("seconds", phase.seconds);
  json.end_object();
}

void write_copies(JsonWriter& json, const std::vector<CopyLine>& copies) {
  json.begin_array("copies");
  for (const auto& copy : copies) {
    json.begin_object();
    json.field("direction", std::string_view(copy.direction));
    json.field("pinned", copy.pinned);
    text_field(json, "line", copy.line);
    json.field("count", copy.count);
    json.field("bytes", copy.bytes);
    json.end_object();
  }
  json.end_array();
}

void write_storage_copies(JsonWriter& json, const RunResult& result) {
  json.begin_object("storage_copies");
  if (result.storage_copies_step > 0) json.field("step", result.storage_copies_step);
  json.field("view_calls", result.view_calls);
  json.begin_array("copies");
  for (const auto& copy : result.storage_copies) {
    json.begin_object();
    json.field("kind", ledger::name_of(copy.kind));
    text_field(json, "line", copy.line);
    text_field(json, "module", copy.module);
    json.field("lives_as", std::string_view(copy.lives));
    json.field("count", copy.count);
    json.field("bytes", copy.bytes);
    json.field("at_peak_bytes", copy.at_peak);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_syncs(JsonWriter& json, const std::vector<SyncLine>& syncs) {
  json.begin_array("synchronizations");
  for (const auto& sync : syncs) {
    json.begin_object();
    json.field("function", std::string_view(sync.function));
    text_field(json, "line", sync.line);
    json.field("count", sync.count);
    json.end_object();
  }
  json.end_array();
}

void write_ooms(JsonWriter& json, const std::vector<OutOfMemoryEvent>& ooms) {
  json.begin_array("out_of_memory");
  for (const auto& oom : ooms) {
    json.begin_object();
    json.field("requested_bytes", oom.requested_bytes);
    if (oom.step > 0) json.field("step", oom.step);
    text_field(json, "phase", oom.phase);
    text_field(json, "module", oom.module);
    text_field(json, "line", oom.line);
    text_field(json, "text", oom.text);
    json.field("caught", oom.caught);
    json.end_object();
  }
  json.end_array();
}

void write_cards(JsonWriter& json, const std::vector<CardFit>& cards) {
  json.begin_array("cards");
  for (const auto& card : cards) {
    json.begin_object();
    json.field("short_name", std::string_view(card.short_name));
    json.field("capacity_bytes", card.capacity_bytes);
    json.field("verdict", card.fits ? (card.tight ? "tight" : "fits") : "oom");
    json.field("known_by", card.estimated ? "estimated" : "executed");
    json.end_object();
  }
  json.end_array();
}

void write_workspaces(JsonWriter& json, const RunResult& result) {
  json.begin_array("workspaces");
  for (const auto& workspace : result.workspaces) {
    json.begin_object();
    json.field("purpose", std::string_view(workspace.purpose));
    json.field("count", workspace.count);
    json.field("bytes", workspace.bytes);
    json.field("low_bytes", workspace.low_bytes);
    json.field("high_bytes", workspace.high_bytes);
    json.field("known_by", "estimated");
    json.end_object();
  }
  json.end_array();
}

void write_honesty(JsonWriter& json, const RunResult& result) {
  write_workspaces(json, result);
  json.begin_array("unknown_reads");
  for (const auto& read : result.unknown_reads) {
    json.begin_object();
    text_field(json, "line", read.line);
    json.field("count", read.count);
    json.field("bytes", read.bytes);
    json.end_object();
  }
  json.end_array();
  json.begin_array("policies");
  for (const auto& use : result.policies) {
    json.begin_object();
    json.field("policy", std::string_view(use.policy));
    text_field(json, "line", use.line);
    json.field("text", std::string_view(use.text));
    json.end_object();
  }
  json.end_array();
  json.begin_array("stub_calls");
  for (const auto& stub : result.stubs) {
    json.begin_object();
    json.field("library", std::string_view(stub.library));
    json.field("function", std::string_view(stub.function));
    json.field("calls", stub.calls);
    json.end_object();
  }
  json.end_array();
  write_texts(json, "not_seen", result.not_seen);
}

void write_host_lines(JsonWriter& json, const HostMemory& host) {
  json.begin_array("lines");
  for (const auto& line : host.lines) {
    json.begin_object();
    json.field("id", std::string_view(line.id));
    json.field("name", std::string_view(line.name));
    json.field("bytes", line.bytes);
    json.field("known_by", ledger::name_of(line.known_by));
    json.end_object();
  }
  json.end_array();
}

void write_host_processes(JsonWriter& json, const HostMemory& host) {
  json.begin_array("processes");
  for (const auto& process : host.processes) {
    json.begin_object();
    text_field(json, "name", process.name);
    json.field("script", process.script);
    json.field("resident_bytes", process.resident_bytes);
    json.field("own_bytes", process.own_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_host_memory(JsonWriter& json, const HostMemory& host) {
  json.field("verdict", host.fits ? "fits" : "exceeded");
  json.field("needed_bytes", host.needed_bytes);
  json.field("capacity_bytes", host.capacity_bytes);
  json.field("capacity_of", host.capacity_given ? "host-memory" : "this-machine");
  json.field("seen_bytes", host.seen_bytes);
  json.begin_object("virtual_gpu");
  json.field("device_pages_bytes", host.device_pages_bytes);
  json.field("recording_bytes", host.recording_bytes);
  json.end_object();
  write_host_lines(json, host);
  write_host_processes(json, host);
  json.field("looks", host.looks);
  json.field("watch_share", host.watch_share);
}

void write_host(JsonWriter& json, const RunResult& result) {
  json.begin_object("host");
  json.field("pinned_bytes", result.pinned_bytes);
  json.field("pinned_peak_bytes", result.pinned_peak_bytes);
  json.field("managed_bytes", result.managed_bytes);
  if (result.pinning.times > 0) {
    json.begin_object("pin_memory");
    json.field("times", result.pinning.times);
    json.field("requested_bytes", result.pinning.requested_bytes);
    json.field("taken_bytes", result.pinning.taken_bytes);
    json.end_object();
  }
  if (result.host_memory) write_host_memory(json, *result.host_memory);
  json.end_object();
}

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

void write_inputs(JsonWriter& json, const std::vector<StepInput>& inputs) {
  json.begin_array("inputs");
  for (const auto& input : inputs) {
    json.begin_object();
    json.field("step", input.step);
    json.field("batches", input.loads);
    if (input.loads > 0) {
      json.field("median_wait_seconds", seconds(input.median_load_ns));
      json.field("total_wait_seconds", seconds(input.total_load_ns));
    }
    json.field("pageable_copies", input.pageable_copies);
    json.field("pageable_bytes", input.pageable_bytes);
    json.field("pinned_copies", input.pinned_copies);
    json.field("pinned_bytes", input.pinned_bytes);
    json.field("waited_copies", input.waited);
    json.field("simulated_copy_seconds", seconds(input.simulated_ns));
    json.end_object();
  }
  json.end_array();
}

void write_files(JsonWriter& json, const FileChanges& files) {
  json.begin_object("files");
  json.field("protected", files.protected_by_shadow);
  write_texts(json, "created", files.created);
  write_texts(json, "overwritten", files.overwritten);
  write_texts(json, "deleted", files.deleted);
  json.end_object();
}

void write_compiler(JsonWriter& json, const CompilerInfo& compiler) {
  json.begin_object("compiler");
  json.field("cache", std::string_view(compiler.cache));
  json.field("graphs", compiler.graphs);
  json.field("compiled", compiler.compiled);
  json.field("timed", compiler.timed);
  bytes_field(json, "cold_peak_allocated_bytes", compiler.cold_peak_allocated_bytes);
  bytes_field(json, "cold_peak_reserved_bytes", compiler.cold_peak_reserved_bytes);
  json.end_object();
}

void write_needs(JsonWriter& json, const RunResult& result) {
  bytes_field(json, "requested_bytes", result.requested_bytes);
  bytes_field(json, "needed_bytes", result.needed_bytes);
  bytes_field(json, "needed_reserved_bytes", result.needed_reserved_bytes);
  bytes_field(json, "needed_at_least_bytes", result.needed_at_least_bytes);
  if (result.missing_bytes > 0) json.field("missing_bytes", result.missing_bytes);
  if (result.reserve_bytes > 0) json.field("reserve_bytes", result.reserve_bytes);
  json.begin_object("headroom");
  json.field("bytes", result.headroom_bytes);
  json.field("fraction", result.headroom_fraction);
  json.end_object();
}

void write_ledger(JsonWriter& json, const RunResult& result) {
  json.begin_array("phases");
  for (const auto& phase : result.phases) write_phase(json, phase);
  json.end_array();
  if (!result.ledger) return;
  write_line(json, *result.ledger, "ledger");
  if (!result.largest_owners.empty()) {
    json.begin_array("largest_owners");
    for (const auto& owner : result.largest_owners) write_line(json, owner, {});
    json.end_array();
  }
  text_field(json, "ledger_of", result.ledger_of);
  json.field("ledger_below_peak_bytes", result.below_peak);
  json.field("ledger_unlimited", result.ledger_unlimited);
}

void write_origin(JsonWriter& json, const RunOrigin& origin) {
  json.begin_object("run");
  text_field(json, "name", origin.name);
  text_field(json, "started", origin.started);
  json.begin_object("environment");
  for (const auto& [name, value] : origin.environment) text_field(json, name, value);
  json.end_object();
  write_texts(json, "input_shapes", origin.input_shapes);
  if (!origin.commit.empty()) {
    json.begin_object("code");
    text_field(json, "commit", origin.commit);
    json.field("dirty", origin.dirty);
    json.end_object();
  }
  json.end_object();
}

void write_recorded(JsonWriter& json, const RecordedInfo& recorded) {
  json.begin_object("recording");
  text_field(json, "name", recorded.name);
  if (recorded.rank) json.field("rank", *recorded.rank);
  if (recorded.world_size > 0) json.field("world_size", recorded.world_size);
  json.field("samples", recorded.samples);
  const std::pair<const char*, std::uint64_t> peaks[] = {{"resident_peak_bytes", recorded.resident_peak_bytes},
                                                         {"pinned_peak_bytes", recorded.pinned_peak_bytes},
                                                         {"workers_peak_bytes", recorded.workers_peak_bytes},
                                                         {"device_used_peak_bytes", recorded.device_used_peak_bytes},
                                                         {"process_used_peak_bytes", recorded.process_used_peak_bytes}};
  for (const auto& [name, bytes] : peaks)
    if (bytes > 0) json.field(name, bytes);
  json.field("problems", recorded.problems);
  json.field("lost_bytes", recorded.lost_bytes);
  json.begin_array("left_out");
  for (const auto& step : recorded.left_out) {
    json.begin_object();
    json.field("step", step.step);
    json.field("why", std::string_view(step.why));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_times(JsonWriter& json, const StepTimes& times) {
  json.begin_object("time");
  json.field("seconds", times.median);
  json.field("low", times.low);
  json.field("high", times.high);
  json.field("steps", times.steps);
  json.field("known_by", "measured");
  json.end_object();
}

void write_flops(JsonWriter& json, const Throughput& throughput) {
  json.field("flops_per_token", throughput.flops_per_token);
  text_field(json, "flops_known_by", throughput.flops_known_by);
  json.field("flops_per_second", throughput.flops_per_second());
  if (throughput.peak_flops <= 0) return;
  json.field("peak_flops_per_second", throughput.peak_flops);
  text_field(json, "peak_known_by", throughput.peak_known_by);
  json.field("mfu", throughput.utilisation());
}

void write_throughput(JsonWriter& json, const Throughput& throughput) {
  json.begin_object("throughput");
  json.field("tokens", throughput.tokens);
  if (throughput.effective) {
    json.field("effective_tokens", *throughput.effective);
    json.field("padding", 1 - static_cast<double>(*throughput.effective) / static_cast<double>(throughput.tokens));
  }
  json.field("tokens_per_second", throughput.tokens_per_second());
  if (throughput.flops_per_token > 0) write_flops(json, throughput);
  json.end_object();
}

void write_evidence(JsonWriter& json, const RunResult& result) {
  json.begin_object("evidence");
  json.field("partial", result.partial);
  write_texts(json, "missing", result.missing);
  json.end_object();
  write_texts(json, "notes", result.notes);
  if (!result.origin.started.empty()) write_origin(json, result.origin);
  if (result.plan) {
    json.begin_object("plan");
    json.field("schema_version", 1);
    json.field("command", "plan");
    write_plan_fields(json, *result.plan);
    json.end_object();
  }
  write_texts(json, "script", result.command);
  json.field("run_directory", std::string_view(result.run_directory));
}

void write_ending(JsonWriter& json, const RunResult& result) {
  text_field(json, "verdict", result.verdict);
  if (result.script_exit_code) json.field("script_exit_code", *result.script_exit_code);
  if (result.exception) {
    json.begin_object("exception");
    json.field("type", std::string_view(result.exception->type));
    json.field("text", std::string_view(result.exception->text));
    json.end_object();
  }
}

// What a recording has of a result: nothing of files, stand-ins and other cards.
std::string recording_json(const RunResult& result) {
  JsonWriter json;
  json.begin_result(result.made_by);
  write_ending(json, result);
  if (!result.device.name.empty()) write_device(json, result.device);
  write_stack(json, result.stack);
  if (result.peak) write_peak(json, *result.peak);
  if (!result.device.name.empty()) write_needs(json, result);
  json.field("steps", result.steps);
  write_recorded(json, *result.recorded);
  if (result.times) write_times(json, *result.times);
  if (result.throughput) write_throughput(json, *result.throughput);
  write_ledger(json, result);
  write_findings(json, result.found);
  write_ooms(json, result.ooms);
  write_evidence(json, result);
  json.end_object();
  return json.text();
}

}  // namespace

std::string result_json(const RunResult& result) {
  if (result.recorded) return recording_json(result);
  JsonWriter json;
  json.begin_result(result.made_by);
  write_ending(json, result);
  write_device(json, result.device);
  write_stack(json, result.stack);
  if (result.peak) write_peak(json, *result.peak);
  write_needs(json, result);
  json.field("steps", result.steps);
  text_field(json, "stop_reason", result.stop_reason);
  write_ledger(json, result);
  write_findings(json, result.found);
  write_ooms(json, result.ooms);
  write_cards(json, result.cards);
  write_copies(json, result.copies);
  write_storage_copies(json, result);
  write_syncs(json, result.syncs);
  write_host(json, result);
  write_inputs(json, result.inputs);
  write_honesty(json, result);
  write_files(json, result.files);
  if (result.compiler) write_compiler(json, *result.compiler);
  write_evidence(json, result);
  json.end_object();
  return json.text();
}

}  // namespace ullage::report
