// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/rehearsal/compiler.hpp"

#include <cstdlib>

namespace ullage::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string cache_home() {
  if (std::string named = variable("XDG_CACHE_HOME"); named.starts_with('/')) return named;
  const std::string home = variable("HOME");
  return home.empty() ? home : home + "/.cache";
}

const ingest::CompilerFacts* facts_of(const Attempt& attempt) {
  return attempt.run && attempt.run->facts.compiler ? &*attempt.run->facts.compiler : nullptr;
}

bool is_cold(const ingest::CompilerFacts& facts) {
  return facts.compiled > 0 || facts.timed > 0;
}

}  // namespace

std::string compiler_cache(const RehearsalOptions& options, const std::string& run_directory) {
  if (options.compile_cache == "cold") return run_directory + "/compiler_cache";
  const std::string home = cache_home();
  return home.empty() ? home : home + "/ullage/compiler";
}

bool compiled_anew(const Attempt& attempt) {
  const Ending ending = ending_of(attempt);
  if (ending != Ending::done && ending != Ending::out_of_memory) return false;
  const auto* facts = facts_of(attempt);
  return facts != nullptr && is_cold(*facts);
}

ColdRun cold_run_of(const Attempt& attempt) {
  ColdRun cold;
  if (const auto* facts = facts_of(attempt))
    cold.graphs = facts->graphs, cold.compiled = facts->compiled, cold.timed = facts->timed;
  if (attempt.ledger) {
    cold.peak_allocated_bytes = attempt.ledger->peak.allocated;
    cold.peak_reserved_bytes = attempt.ledger->peak.reserved;
  }
  return cold;
}

void take_compiler(report::RunResult& result, const RehearsalOptions& options, const Attempt& shown,
                   const std::optional<ColdRun>& cold) {
  const auto* facts = facts_of(shown);
  if (facts == nullptr) return;
  report::CompilerInfo info{"warm", facts->graphs, facts->compiled, facts->timed, {}, {}};
  if (is_cold(*facts)) info.cache = options.compile_cache == "cold" || !cold ? "cold" : "not_kept";
  if (cold) {
    info.cold_peak_allocated_bytes = cold->peak_allocated_bytes;
    info.cold_peak_reserved_bytes = cold->peak_reserved_bytes;
  }
  result.compiler = info;
}

}  // namespace ullage::cli
