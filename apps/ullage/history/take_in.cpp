// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/take_in.hpp"

#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/recording/result.hpp"
#include "ingest/file/mapped_file.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_set>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;

/// What of a record says whose it is, and whether it has its end: a long one is not read whole for that.
constexpr std::size_t edge = std::size_t{64} << 10;

bool may_be_ended_recording(const fs::path& marks) {
  const auto file = ingest::MappedFile::open(marks.string());
  if (!file) return false;
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  ingest::RunDirectory run;
  run.facts = ingest::read_run_facts(text.substr(0, edge));
  run.facts.end = ingest::read_run_facts(text.substr(text.size() - std::min(edge, text.size()))).end;
  if (!run.facts.recording) return text.size() > edge;  // perhaps it has a very long command
  return recording_has_ended(run);
}

/// Nothing where the store cannot be read: the command that wants it says why.
std::optional<std::unordered_set<std::string>> known_ids() {
  auto store = open_store();
  if (!store) return std::nullopt;
  if (!*store) return std::unordered_set<std::string>();
  const auto ids = (*store)->ids();
  if (!ids) return std::nullopt;
  return std::unordered_set<std::string>(ids->begin(), ids->end());
}

}  // namespace

void take_in_recording(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "run.json", error)) return;  // of most: nothing more is looked at
  const fs::path directory = directory_with_marks(folder), marks = directory / "marks.jsonl";
  for (const char* left : {"run.json", "device.ulog"})  // a rehearsal writes its result itself
    if (fs::exists(directory / left, error)) return;
  if (!fs::exists(marks, error) || !may_be_ended_recording(marks)) return;
  const auto run = ingest::read_run_directory(directory.string());
  if (run && run->facts.recording) settle_recording(*run);
}

void take_in_recordings() {
  if (store_path().empty()) return;
  const auto known = known_ids();
  if (!known) return;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs_directory(), error)) {
    std::error_code gone;
    if (!known->contains(entry.path().filename().string()) && entry.is_directory(gone)) take_in_recording(entry.path());
  }
}

Result<std::optional<store::Store>> open_history() {
  take_in_recordings();
  return open_store();
}

}  // namespace ullage::cli
