// SPDX-License-Identifier: Apache-2.0
// Figures of a run against budgets and a baseline.
#pragma once

#include "store/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ullage::cli {

/// A small file that is committed beside a script: docs/schemas/baseline.schema.json.
struct Baseline {
  std::string name, script, gpu, torch;
  std::vector<store::Setting> settings;         ///< those that a person chose
  std::vector<store::MetricValue> metrics;      ///< in the order of the table
  std::map<std::string, std::uint64_t> ledger;  ///< lines that have none below them
};

/// Of a run, with these metrics; those that the run does not know are left out.
[[nodiscard]] Baseline baseline_of(const store::Record& record, std::span<const store::MetricId> metrics);

[[nodiscard]] std::string baseline_json(const Baseline& baseline);

/// Errors: `io`; `bad_input` for another file; `usage` for an unknown metric in it.
[[nodiscard]] Result<Baseline> read_baseline(const std::string& path);

struct Budget {
  store::MetricId metric = 0;
  std::int64_t limit = 0;
};

/// `peak_reserved=38GiB,step_growth=1MiB`. Errors: `usage`.
[[nodiscard]] Result<std::vector<Budget>> parse_budgets(const std::string& text);

/// `a,b,c`. Errors: `usage`.
[[nodiscard]] Result<std::vector<store::MetricId>> parse_metrics(const std::string& text);

enum class CheckStatus : std::uint8_t { ok, improved, over, unknown };
[[nodiscard]] const char* name_of(CheckStatus status);

/// One figure and its limit.
struct Check {
  store::MetricId metric = 0;
  std::optional<std::int64_t> value;
  std::int64_t limit = 0;                ///< at most, or at least where more is better
  std::optional<std::int64_t> baseline;  ///< of a check against one
  CheckStatus status = CheckStatus::unknown;
};

struct LineChange {
  std::string id;
  std::uint64_t before = 0, after = 0;
};

/// True for a run that fits, and for one of which nothing is known to the contrary.
[[nodiscard]] bool verdict_is_good(const store::Summary& run);

struct CheckReport {
  store::Summary run;
  std::vector<Check> checks;
  double tolerance = 0;
  std::vector<store::SettingDifference> settings;  ///< from the baseline to the run
  std::vector<LineChange> ledger;                  ///< the same; the largest effect first
  [[nodiscard]] bool verdict_is_good() const { return cli::verdict_is_good(run); }
  [[nodiscard]] std::size_t count(CheckStatus status) const;
  [[nodiscard]] bool passed() const;
};

/// What may be lost from `before` on without being a regression.
[[nodiscard]] bool is_worse(store::MetricId metric, std::int64_t before, std::int64_t after, double tolerance);

[[nodiscard]] CheckReport check_run(const store::Record& record, std::span<const Budget> budgets,
                                    const std::optional<Baseline>& baseline, double tolerance);

[[nodiscard]] std::string check_text(const CheckReport& report);
[[nodiscard]] std::string check_json(const CheckReport& report);
[[nodiscard]] std::string check_markdown(const CheckReport& report);

/// The table of metrics.
[[nodiscard]] std::string metrics_text();
[[nodiscard]] std::string metrics_json();

}  // namespace ullage::cli
