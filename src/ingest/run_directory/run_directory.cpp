// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/run_directory.hpp"

#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ingest/file/mapped_file.hpp"
#include "ingest/run_directory/recording.hpp"

namespace ullage::ingest {

namespace {

/// Also where looking at it fails: opening it says why.
bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::status(path, error).type() != std::filesystem::file_type::not_found;
}

void miss(RunDirectory& run, std::string note) {
  run.notes.push_back(std::move(note));
  run.partial = true;
}

Result<void> read_marks(RunDirectory& run) {
  const std::string path = run.path + "/marks.jsonl";
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto bytes = file->bytes();
  run.facts = read_run_facts({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (run.facts.records == 0) {
    return fail(ErrorKind::bad_input, "the file has no record", path, "one checksummed record a line",
                "run the script again");
  }
  if (run.facts.damage) miss(run, "marks.jsonl: " + describe(*run.facts.damage));
  if (!run.facts.end) miss(run, "marks.jsonl has no end: the script was killed or still runs");
  return {};
}

void read_history(RunDirectory& run) {
  const std::string path = run.path + "/snapshot.pickle";
  if (!is_there(path)) {
    if (run.facts.recording && !run.facts.history) return;  // none was asked for
    return miss(run, "there is no snapshot.pickle");
  }
  SnapshotOptions options;
  if (run.facts.history) options.device = run.facts.history->device;
  auto snapshot = read_snapshot_file(path, options);
  if (!snapshot && snapshot.error().kind == ErrorKind::usage) snapshot = read_snapshot_file(path);
  if (!snapshot) return miss(run, "snapshot.pickle: " + describe(snapshot.error()));
  if (snapshot->damage) miss(run, "snapshot.pickle: " + describe(*snapshot->damage));
  run.snapshot = std::move(*snapshot);
}

void read_operators(RunDirectory& run) {
  const std::string path = operators_path(run.path);
  if (path.empty()) return;
  auto operators = read_kineto_file(path);
  if (!operators) return miss(run, "the operators: " + describe(operators.error()));
  if (operators->damage) miss(run, "the operators: " + describe(*operators->damage));
  run.operators = std::move(*operators);
}

void read_log(RunDirectory& run) {
  const std::string path = run.path + "/device.ulog";
  if (!is_there(path)) {
    if (!run.facts.recording && !imitated_device(run.path).short_name.empty())
      miss(run, "there is no device.ulog: the context and other libraries are not known");
    return;  // a recording on a real GPU has none
  }
  const auto file = MappedFile::open(path);
  if (!file) return miss(run, "device.ulog: " + describe(file.error()));
  auto log = read_device_log(file->bytes());
  if (!log) return miss(run, "device.ulog: " + describe(log.error()));
  if (log->damage) miss(run, "device.ulog: " + describe(*log->damage));
  if (log->dropped_records > 0)
    miss(run, "device.ulog: " + std::to_string(log->dropped_records) + " records were dropped");
  run.device = std::move(*log);
}

void join_history(RunDirectory& run) {
  if (!run.snapshot) {
    run.join.why_not = "there is no memory history";
    return;
  }
  if (run.facts.recording) cut_to_history(run);
  run.join = join_marks(run.snapshot->timeline, run.facts.marks, run.facts.history);
  if (!run.join.joined && run.facts.recording) return leave_uncut(run);
  if (!run.join.joined) return miss(run, run.join.why_not + "; phases come from PyTorch's own counters");
  for (const std::string& example : run.join.examples) run.notes.push_back(example);
}

// The device's bytes at each mark, by the running number that both files give it.
void join_log(RunDirectory& run) {
  if (!run.device) return;
  std::unordered_map<std::uint32_t, std::uint64_t> by_index;
  for (const LogInterval& interval : run.device->intervals) {
    if (interval.end_mark) by_index[*interval.end_mark] = interval.device_bytes;
  }
  for (const ledger::Mark& mark : run.facts.marks) {
    const auto it = by_index.find(mark.index);
    if (it == by_index.end()) {
      run.device_bytes.clear();
      return miss(run, "device.ulog does not have mark " + std::to_string(mark.index));
    }
    run.device_bytes.push_back(it->second);
  }
}

}  // namespace

std::string operators_path(const std::string& run_directory) {
  for (const char* name : {"/operators.json.zst", "/operators.json"}) {
    if (is_there(run_directory + name)) return run_directory + name;
  }
  return {};
}

ledger::RunInput RunDirectory::ledger_input() const {
  ledger::RunInput input;
  input.marks = facts.marks;
  input.lists = facts.lists;
  input.known_by = device ? ledger::KnownBy::executed : ledger::KnownBy::measured;
  if (join.joined) input.history = {&snapshot->timeline, &join.initial, join.cuts, join.intervals};
  if (operators) input.trace = &operators->trace;
  if (device) {
    input.context_bytes = device->context_bytes;
    input.device_peak_bytes = device->device_peak_bytes;
    input.device_bytes = device_bytes;
  }
  if (facts.recording) {
    input.device_bytes = device_bytes;
    input.device_peak_bytes = device_peak_bytes;
  }
  return input;
}

Result<RunDirectory> read_run_directory(const std::string& path) {
  RunDirectory run;
  run.path = path;
  if (auto marks = read_marks(run); !marks) return tl::unexpected<Error>(marks.error());
  read_history(run);
  read_operators(run);
  read_log(run);
  join_history(run);
  join_log(run);
  if (run.facts.recording) complete_recording(run);
  return run;
}

}  // namespace ullage::ingest
