// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/evidence.hpp"

#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/evidence/series.hpp"
#include "apps/ullage/recording/result.hpp"
#include "attribution/bare_labels.hpp"
#include "attribution/trace_labels.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "ingest/file/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;
using Opened = Result<std::unique_ptr<Evidence>>;

timeline::Interval whole_interval(const timeline::Timeline& timeline, const timeline::InitialState& initial) {
  const std::size_t end[] = {timeline.events.count()};
  return timeline::intervals(timeline, initial, end).front();
}

void say_contradictions(Evidence& evidence) {
  if (evidence.whole.allocated.bytes > evidence.whole.reserved.bytes)
    evidence.quality.contradictions.push_back(
        fmt::format("{} are allocated at the peak, more than the {} that are ever reserved",
                    format_bytes(evidence.whole.allocated.bytes), format_bytes(evidence.whole.reserved.bytes)));
  timeline::BlockReplay replay(*evidence.timeline, evidence.initial);
  const auto mismatches = timeline::compare_with_source(replay, *evidence.timeline);
  constexpr std::size_t shown = 8;
  for (std::size_t i = 0; i < std::min(shown, mismatches.size()); ++i)
    evidence.quality.contradictions.push_back(fmt::format("at {:#x}: {}", mismatches[i].address, mismatches[i].what));
  if (mismatches.size() > shown)
    evidence.quality.contradictions.push_back(fmt::format("and {} more of this kind", mismatches.size() - shown));
}

/// The phase with the highest peak, as the marks tell it: what the tensors named there do not explain stays open.
CounterPeak counters_of_recording(const ingest::RunDirectory& run, const ledger::RunLedger& built) {
  const auto& phase = built.phases[built.allocated_peak_phase];
  CounterPeak peak;
  peak.ledger = built.used;
  peak.moment = "end of " + ledger::title_of(phase);
  peak.summary = fmt::format("{} allocated at the peak, in {}; {} reserved at most", format_bytes(built.peak.allocated),
                             ledger::title_of(phase), format_bytes(built.peak.reserved));
  for (const auto& note : run.facts.notes) peak.notes.push_back(note);
  return peak;
}

void say_how_far_below_the_peak(Evidence& evidence) {
  const bool rehearsal = evidence.run->facts.recording->rehearsal;
  if (const std::uint64_t below = evidence.run_ledger->below_peak; below > 0)
    evidence.quality.missing.push_back(
        fmt::format("the peak itself: the ledger is of the end of its phase, {} below it; {}", format_bytes(below),
                    rehearsal ? "the rehearsal around this recording shows it"
                              : "a memory history (history=[step]) would show it"));
}

/// Of a rehearsal that ran out of memory, where the rest of its steps is.
void say_what_came_after(Evidence& evidence) {
  if (evidence.run->facts.ooms.empty() || !has_unlimited_run(evidence.path)) return;
  evidence.quality.missing.push_back(
      fmt::format("what comes after the failed request: the second run, in which only the charging is unlimited, is {}",
                  shell_quoted(unlimited_run(evidence.path).string())));
}

Opened open_run(const std::string& path) {
  const fs::path directory = directory_with_marks(path);
  std::error_code error;
  if (fs::status(directory / "marks.jsonl", error).type() == fs::file_type::not_found)
    return fail(ErrorKind::bad_input, "this folder is no run directory: it has no marks.jsonl", path,
                "what 'ullage rehearse' or 'ullage record' made, or a file",
                "'ullage runs' lists the runs; of other folders, name a file in them");
  auto run = ingest::read_run_directory(directory.string());
  if (!run) return tl::unexpected(run.error());
  auto evidence = std::make_unique<Evidence>();
  evidence->path = run->path;
  evidence->format = Format::run_directory;
  evidence->run = std::make_unique<ingest::RunDirectory>(std::move(*run));
  const auto& facts = evidence->run->facts;
  evidence->producer = evidence->run->facts.recording ? "recording" : "rehearsal";
  if (facts.process) evidence->producer += ", torch " + facts.process->torch;
  evidence->quality.partial = evidence->run->partial;
  evidence->quality.missing = evidence->run->notes;
  if (facts.recording) settle_recording(*evidence->run);
  const auto device = ingest::imitated_device(evidence->path);
  if (const auto gpu = find_gpu(device.short_name)) evidence->gpu = *gpu;
  evidence->capacity_bytes = device.capacity_bytes;
  if (facts.device) evidence->capacity_bytes = facts.device->total_bytes;
  for (const auto& oom : facts.ooms) evidence->capacity_bytes = oom.total_bytes;
  if (evidence->gpu != nullptr && !evidence->capacity_bytes) evidence->capacity_bytes = evidence->gpu->capacity_bytes();
  evidence->input = evidence->run->ledger_input();
  evidence->account = ledger::make_account(evidence->input);
  evidence->run_ledger = ledger::build(evidence->input, evidence->account ? &*evidence->account : nullptr);
  if (evidence->run->join.joined) {
    evidence->timeline = &evidence->run->snapshot->timeline;
    evidence->initial = evidence->run->join.initial;
    evidence->whole = whole_interval(*evidence->timeline, evidence->initial);
  } else if (facts.recording && evidence->run_ledger) {
    evidence->counters = counters_of_recording(*evidence->run, *evidence->run_ledger);
    say_how_far_below_the_peak(*evidence);
  }
  say_what_came_after(*evidence);
  return evidence;
}

attribution::Labels bare_labels(const Evidence& evidence) {
  attribution::BareEvidence bare;
  bare.timeline = evidence.timeline;
  bare.allocations = &evidence.account->allocations;
  bare.annotations = annotations_of(evidence);
  return attribution::label_bare(bare);
}

void say_what_a_snapshot_lacks(Evidence& evidence) {
  const auto& timeline = *evidence.timeline;
  auto& missing = evidence.quality.missing;
  if (timeline.events.count() == 0)
    missing.push_back("no events: recording was off or keeps one entry; only the state at the dump is known");
  else if (evidence.account->allocations.before_trace > 0)
    missing.push_back(
        fmt::format("{} blocks are older than the recording: when and where they were allocated is not "
                    "known",
                    evidence.account->allocations.before_trace));
  missing.push_back("memory outside PyTorch: the CUDA context, NCCL and other processes");
  if (timeline.overflowed) missing.push_back("the ring of events was full: the oldest are lost");
  if (evidence.snapshot->devices.size() > 1)
    missing.push_back(fmt::format("{} devices are in the file; this is device {}", evidence.snapshot->devices.size(),
                                  timeline.device));
  for (const auto& action : evidence.snapshot->unknown_actions)
    missing.push_back("events of an unknown kind: " + action);
  if (evidence.snapshot->bad_values > 0)
    missing.push_back(fmt::format("{} values of a wrong kind were left out", evidence.snapshot->bad_values));
}

Opened open_snapshot(ingest::Source& source, std::optional<int> device) {
  auto snapshot = ingest::read_snapshot(source.rest(), {.device = device, .stacks = true});
  if (!snapshot) {
    Error error = snapshot.error();
    error.where = source.name() + (error.where.empty() ? "" : ", " + error.where);
    return tl::unexpected(error);
  }
  auto evidence = std::make_unique<Evidence>();
  evidence->path = source.name();
  evidence->format = Format::snapshot;
  evidence->producer = "memory snapshot of PyTorch";
  evidence->snapshot = std::move(*snapshot);
  evidence->timeline = &evidence->snapshot->timeline;
  evidence->devices = evidence->snapshot->devices;
  evidence->initial = timeline::settled_initial_state(*evidence->timeline);
  evidence->whole = whole_interval(*evidence->timeline, evidence->initial);
  evidence->account.emplace();
  evidence->account->allocations = timeline::allocations(*evidence->timeline, evidence->initial);
  evidence->account->labels = bare_labels(*evidence);
  evidence->quality.overflowed = evidence->timeline->overflowed;
  const auto& damage = evidence->snapshot->damage;
  note_damage(*evidence, source.damage() ? source.damage() : damage);  // of the compressed file, where it is the cause
  say_what_a_snapshot_lacks(*evidence);
  say_contradictions(*evidence);
  return evidence;
}

void say_what_a_trace_lacks(Evidence& evidence) {
  const timeline::TraceTimeline& events = *evidence.trace_timeline;
  auto& missing = evidence.quality.missing;
  missing.push_back("requested sizes: the trace has those of blocks, so that rounding is in every line");
  if (!events.has_totals)
    missing.push_back(
        "the allocator's totals: reserved memory is not known, and what is older than the trace is at "
        "least what is freed in it");
  if (!evidence.trace->has_addresses)
    missing.push_back(
        fmt::format("addresses: {} frees were taken for the latest allocation of their size, so that "
                    "lifetimes are likely, not certain",
                    events.matched_by_size));
  if (events.older_bytes > 0)
    missing.push_back(
        fmt::format("{} that are older than the trace: whose they are is not known", format_bytes(events.older_bytes)));
  auto& contradictions = evidence.quality.contradictions;
  if (events.lost_frees > 0)
    contradictions.push_back(fmt::format("{} addresses were given out again without a free", events.lost_frees));
  if (events.disagreements > 0)
    contradictions.push_back(
        fmt::format("at {} events the allocator's own total is not the sum of the events; by at "
                    "most {}",
                    events.disagreements, format_bytes(events.largest_disagreement)));
}

void find_peaks(Evidence& evidence) {
  evidence.whole = whole_interval(*evidence.timeline, evidence.initial);
  const auto& reserved = evidence.trace_timeline->reserved;
  if (reserved.empty()) return;
  const auto most = std::ranges::max_element(reserved);
  evidence.whole.reserved = {*most, static_cast<std::uint64_t>(most - reserved.begin())};
}

std::vector<int> devices_of(const timeline::Trace& trace) {
  std::set<int> devices;
  for (std::size_t i = 0; i < trace.memory.count(); ++i) {
    if (trace.memory.device[i] >= 0 && trace.memory.bytes[i] > 0) devices.insert(trace.memory.device[i]);
  }
  return {devices.begin(), devices.end()};
}

void take_memory_events(Evidence& evidence, std::optional<int> device) {
  timeline::Trace& trace = evidence.trace->trace;
  evidence.devices = devices_of(trace);
  if (!device) device = timeline::busiest_device(trace);
  if (!device) {
    evidence.quality.missing.push_back("memory events of a device: there are only the host's");
    return;
  }
  evidence.trace_timeline = timeline::timeline_of(trace, *device);
  evidence.timeline = &evidence.trace_timeline->timeline;
  evidence.initial = evidence.trace_timeline->initial;
  evidence.account.emplace();
  evidence.account->allocations = timeline::allocations(*evidence.timeline, evidence.initial);
  evidence.trace_phases = attribution::phases_of(trace, *evidence.trace_timeline);
  evidence.account->labels =
      attribution::label_trace(trace, *evidence.trace_timeline, evidence.account->allocations, evidence.trace_phases);
  find_peaks(evidence);
  say_what_a_trace_lacks(evidence);
}

/// A file is read in pieces; the standard input, which cannot be read twice, is held in memory.
Result<ingest::KinetoTrace> kineto_of(ingest::Source& source) {
  return source.name() == "-" ? ingest::read_kineto(source.rest(), "-") : ingest::read_kineto_file(source.name());
}

Opened open_kineto(ingest::Source& source, std::optional<int> device) {
  auto trace = kineto_of(source);
  if (!trace) return tl::unexpected(trace.error());
  auto evidence = std::make_unique<Evidence>();
  evidence->path = source.name();
  evidence->format = Format::kineto;
  evidence->producer = "trace of torch.profiler";
  evidence->trace = std::move(*trace);
  note_damage(*evidence, evidence->trace->damage);
  if (evidence->trace->memory_events == 0)
    evidence->quality.missing.push_back("no memory events: record with profile_memory=True");
  else
    take_memory_events(*evidence, device);
  if (evidence->trace->trace.device_bytes > 0) evidence->capacity_bytes = evidence->trace->trace.device_bytes;
  return evidence;
}

Opened open_log(ingest::Source& source) {
  auto evidence = std::make_unique<Evidence>();
  evidence->path = source.name();
  evidence->format = Format::oom_log;
  evidence->oom_log = ingest::read_oom_log(source);
  evidence->producer = "a text of " + counted(evidence->oom_log->lines, "line");
  note_damage(*evidence, evidence->oom_log->damage);
  if (!evidence->oom_log->messages.empty()) return evidence;
  return fail(ErrorKind::bad_input, "no out-of-memory message is in this text", source.name(),
              "a log with an error like 'CUDA out of memory. Tried to allocate ...', or another kind of evidence: a "
              "memory snapshot, a trace of torch.profiler, a run directory");
}

bool looks_like_pickle(std::string_view head) {
  if (head.empty()) return false;
  if (head.front() == '\x80' || head.front() == ']' || head.front() == '}') return true;
  return head.starts_with("(dp") || head.starts_with("(lp") || head.starts_with("(d.") || head.starts_with("(l.") ||
         (head.front() == '(' && !ingest::looks_like_text(head));
}

}  // namespace

Result<std::unique_ptr<Evidence>> open_one(const Arguments& arguments, const std::string& command) {
  if (arguments.positionals.empty())
    return fail(ErrorKind::usage, "what is missing is a run or a file", command, command + " RUN|FILE");
  return open_run_or_file(arguments.positionals.front());
}

std::vector<attribution::Annotation> annotations_of(const Evidence& evidence) {
  const auto& snapshot = evidence.run ? evidence.run->snapshot : evidence.snapshot;
  std::vector<attribution::Annotation> annotations;
  if (!snapshot) return annotations;
  for (const auto& annotation : snapshot->annotations) {
    if (annotation.device == evidence.timeline->device)
      annotations.push_back({annotation.name, annotation.start, annotation.time_us});
  }
  return annotations;
}

const timeline::Trace* trace_of(const Evidence& evidence) {
  if (evidence.trace) return &evidence.trace->trace;
  return evidence.run && evidence.run->operators ? &evidence.run->operators->trace : nullptr;
}

void note_damage(Evidence& evidence, const std::optional<Error>& damage) {
  if (!damage) return;
  evidence.quality.partial = true;
  evidence.quality.missing.push_back(describe(*damage));
}

std::string largest_parts(std::vector<ledger::Line> lines) {
  constexpr std::size_t most = 4;
  std::ranges::stable_sort(lines, std::ranges::greater(), &ledger::Line::bytes);
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), most) && lines[i].bytes > 0; ++i)
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", lines[i].name, format_bytes(lines[i].bytes));
  return text;
}

const char* name_of(Format format) {
  switch (format) {
    case Format::run_directory:
      return "run directory";
    case Format::snapshot:
      return "memory snapshot";
    case Format::kineto:
      return "profiler trace";
    case Format::oom_log:
      return "out-of-memory text";
    case Format::memory_timeline:
      return "memory timeline";
    case Format::smi_log:
      return "nvidia-smi log";
  }
  return "";
}

ledger::KnownBy Evidence::known_by() const {
  return run ? input.known_by : ledger::KnownBy::measured;
}

Opened open_run_or_file(const std::string& argument) {
  return resolve_run_or_file(argument).and_then([](const std::string& path) { return open_evidence(path); });
}

Opened open_whole_run_or_file(const std::string& argument) {
  return resolve_run_or_file(argument).and_then([](const std::string& path) {
    return open_evidence(has_unlimited_run(path) ? unlimited_run(path).string() : path);
  });
}

Opened open_evidence(const std::string& path, std::optional<int> device) {
  std::error_code error;
  if (fs::is_directory(path, error)) return open_run(path);
  auto source = ingest::Source::open(path);
  if (!source) return tl::unexpected(source.error());
  const std::string_view head = source->head();
  if (looks_like_pickle(head)) return open_snapshot(*source, device);
  if (ingest::looks_like_kineto(head)) return open_kineto(*source, device);
  if (ingest::looks_like_memory_timeline(head)) return open_memory_timeline(*source);
  if (ingest::looks_like_memory_timeline_page(head)) return refuse_page(path);
  if (ingest::looks_like_smi_log(head)) return open_smi_log(*source);
  if (ingest::looks_like_smi_log_without_header(head)) return refuse_headless(path);
  if (ingest::looks_like_text(head)) return open_log(*source);
  return fail(ErrorKind::bad_input, "this is no memory evidence that Ullage knows", path,
              "a run directory, a memory snapshot (pickle), a trace of torch.profiler or a log with an out-of-memory "
              "error, plain, gzip or zstd");
}

std::optional<allocator::TorchVersion> torch_of(const ingest::RunDirectory* run) {
  if (run == nullptr || !run->facts.process) return std::nullopt;
  return allocator::parse_torch_version(run->facts.process->torch);
}

}  // namespace ullage::cli
