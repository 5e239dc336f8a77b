// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/evidence/findings.hpp"

#include "apps/ullage/evidence/cut.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/evidence/steps.hpp"
#include "base/text.hpp"
#include "ingest/run_directory/transfers.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ullage::cli {
namespace {

namespace fs = std::filesystem;
using findings::Finding;

constexpr const char* ignore_file = ".ullageignore";
constexpr std::uintmax_t most_bytes = 1 << 20;

Result<void> check_id(const std::string& id, ErrorKind kind, const std::string& where) {
  if (findings::rule_of(id) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const auto* rule : findings::rules()) names.emplace_back(rule->id);
  std::string hint = suggestion(id, names);
  if (hint.empty()) hint = "'ullage findings --list' lists the rules";
  return fail(kind, "no rule is called '" + id.substr(0, 60) + "'", where, {}, hint);
}

Result<void> take_flags(const Arguments& arguments, std::vector<Ignored>& out) {
  for (const std::string& text : arguments.texts("ignore")) {
    for (const std::string& part : split(text, ',')) {
      const std::string id(trim(part));
      if (const auto known = check_id(id, ErrorKind::usage, "--ignore"); !known) return known;
      out.push_back({id, {}});
    }
  }
  return {};
}

/// Empty when there is none.
fs::path project_file() {
  std::error_code error;
  for (fs::path folder = fs::current_path(error); !folder.empty(); folder = folder.parent_path()) {
    std::error_code missing;
    if (fs::symlink_status(folder / ignore_file, missing).type() != fs::file_type::not_found)
      return folder / ignore_file;
    if (folder == folder.parent_path()) break;
  }
  return {};
}

Result<void> take_file(std::vector<Ignored>& out) {
  const fs::path path = project_file();
  if (path.empty()) return {};
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > most_bytes)
    return fail(ErrorKind::bad_input, "the list of silenced rules cannot be read", path.string(),
                "a regular file of at most 1 MiB");
  std::ifstream file(path);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (++number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    const std::string text(trim(std::string_view(line).substr(0, line.find('#'))));
    if (text.empty()) continue;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string id = text.substr(0, end);
    if (const auto known = check_id(id, ErrorKind::bad_input, path.string() + ", line " + std::to_string(number));
        !known)
      return known;
    out.push_back({id, std::string(trim(std::string_view(text).substr(end)))});
  }
  return {};
}

bool of_failure(const Finding& finding) {
  return finding.id == "fragmentation" || finding.id == "no_hole";
}

findings::Facts facts_of_source(const Evidence& evidence, const ledger::Cut& peak) {
  findings::Facts facts;
  facts.peak = peak;
  if (!evidence.trace_timeline) facts.initial = &evidence.initial;
  facts.run.trace = trace_of(evidence);
  facts.calls = evidence.account->calls;
  facts.phases = evidence.trace_phases;
  facts.capacity = evidence.capacity_bytes;
  if (!evidence.trace_timeline) facts.reserved_peak = evidence.whole.reserved.bytes;
  return facts;
}

/// What the steps tell beside, unless the allocations told it already, with their lines.
std::vector<Finding> with_steps(std::vector<Finding> found, const ingest::RunDirectory& run) {
  std::vector<Finding> others = findings_of_steps(run);
  std::erase_if(others, [&](const Finding& other) {
    return std::ranges::any_of(found,
                               [&](const Finding& one) { return one.id == other.id || (one.grows && other.grows); });
  });
  found.insert(found.end(), std::move_iterator(others.begin()), std::move_iterator(others.end()));
  findings::rank(found);
  return found;
}

/// The run without a limit beside one that ran out of memory.
std::vector<Finding> unlimited_findings(const Evidence& evidence, double headroom) {
  if (!has_unlimited_run(evidence.run->path)) return {};
  const auto beside = open_evidence(unlimited_run(evidence.run->path).string());
  return beside ? findings_of_evidence(**beside, headroom) : std::vector<Finding>();
}

std::vector<Finding> of_run(const Evidence& evidence, double headroom) {
  const auto& facts = evidence.run->facts;
  Judgement judgement;
  judgement.headroom = headroom;
  judgement.fits = facts.ooms.empty() && !facts.exception;
  auto found =
      findings_of_run(*evidence.run, *evidence.account, *evidence.run_ledger, evidence.capacity_bytes, judgement);
  return facts.ooms.empty() ? found : joined(std::move(found), unlimited_findings(evidence, headroom));
}

}  // namespace

Result<std::vector<Ignored>> ignored_findings(const Arguments& arguments) {
  std::vector<Ignored> out;
  return take_flags(arguments, out).and_then([&] { return take_file(out); }).map([&] { return std::move(out); });
}

report::FindingsView without_ignored(std::vector<Finding> found, const std::vector<Ignored>& ignored) {
  report::FindingsView shown;
  shown.ignored = std::erase_if(found, [&](const Finding& finding) {
    return std::ranges::any_of(ignored, [&](const Ignored& one) {
      return one.id == finding.id && (finding.code.line.find(one.line) != std::string::npos ||
                                      finding.code.called_from.find(one.line) != std::string::npos);
    });
  });
  shown.findings = std::move(found);
  return shown;
}

std::vector<Finding> findings_of_run(const ingest::RunDirectory& run, const ledger::Account& account,
                                     const ledger::RunLedger& ledger, std::optional<std::uint64_t> capacity,
                                     const Judgement& judgement) {
  findings::Facts facts;
  facts.run = run.ledger_input();
  const auto events = ledger::events_at(facts.run, ledger, ledger::Moment::allocated_peak);
  if (!events) return findings_of_steps(run);
  facts.peak = ledger::cut_at(facts.run, account, *events);
  facts.initial = facts.run.history.initial;
  facts.ledger = &ledger;
  facts.calls = account.calls;
  if (run.device) facts.transfers = ingest::transfers_by_step(*run.device, run.facts.marks);
  facts.rules = allocator::rules_of(torch_of(&run));
  facts.masks = run.facts.masks;
  facts.zero_grads = run.facts.zero_grads;
  facts.reserved_peak = ledger.peak.reserved;
  facts.capacity = capacity;
  facts.headroom = judgement.headroom, facts.reserve = judgement.reserve, facts.fits = judgement.fits;
  const findings::Subject subject(std::move(facts));
  return with_steps(findings::findings_of(subject), run);
}

std::vector<Finding> findings_of_steps(const ingest::RunDirectory& run) {
  return findings::findings_of(steps_of(run));
}

std::vector<Finding> joined(std::vector<Finding> limited, std::vector<Finding> unlimited) {
  if (unlimited.empty()) return limited;
  std::erase_if(limited, [](const Finding& finding) { return !of_failure(finding); });
  const auto said = [&](const Finding& finding) {
    return std::ranges::find(limited, finding.id, &Finding::id) != limited.end();
  };
  std::erase_if(unlimited, said);
  limited.insert(limited.end(), std::move_iterator(unlimited.begin()), std::move_iterator(unlimited.end()));
  findings::rank(limited);
  return limited;
}

std::vector<Finding> findings_of_evidence(const Evidence& evidence, double headroom) {
  const bool has_allocations = evidence.timeline != nullptr && evidence.account;
  if (has_allocations && evidence.run && evidence.run_ledger) return of_run(evidence, headroom);
  if (evidence.run) return findings_of_steps(*evidence.run);
  if (!has_allocations) return {};
  const auto peak = choose_cut(evidence, "peak");
  if (!peak) return {};
  const findings::Subject subject(facts_of_source(evidence, peak->cut));
  return findings::findings_of(subject);
}

}  // namespace ullage::cli
