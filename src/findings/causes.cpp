// SPDX-License-Identifier: Apache-2.0
#include "findings/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace ullage::findings {
namespace {

using ledger::JoinedLine;

/// The line of the chart that a line belongs to: `activations` of `activations/h.*.mlp`.
std::string_view account_of(const JoinedLine& line) {
  return std::string_view(line.id).substr(0, line.id.find_first_of("./"));
}

struct Subject {
  const std::vector<ConfigurationFact>& configuration;
  const ColumnLimits &limits, &reference_limits;
  std::size_t column, reference;
  std::vector<ExplainedLine> lines;

  [[nodiscard]] std::int64_t difference_of(std::string_view account) const {
    std::int64_t bytes = 0;
    for (const ExplainedLine& one : lines)
      if (account_of(*one.line) == account) bytes += one.bytes;
    return bytes;
  }
  [[nodiscard]] const ConfigurationFact* differing(std::string_view key) const {
    const auto fact = std::ranges::find(configuration, key, &ConfigurationFact::key);
    return fact != configuration.end() && fact->differs(column, reference) ? &*fact : nullptr;
  }
  /// Of a fact that differs.
  [[nodiscard]] std::string change(const ConfigurationFact& fact) const {
    return fmt::format("{} {} -> {}", fact.key, *fact.values[column], *fact.values[reference]);
  }
};

bool is_one_of(std::string_view account, std::span<const std::string_view> accounts) {
  return accounts.empty() || std::ranges::find(accounts, account) != accounts.end();
}

using Rule = std::optional<Cause> (*)(const Subject& subject, const ExplainedLine& line);

constexpr std::string_view states[] = {"parameters", "gradients", "optimizer_state", "context", "outside_pytorch"};

std::optional<Cause> states_alone(const Subject& subject, const ExplainedLine& one) {
  if (!subject.limits.states_alone || is_one_of(account_of(*one.line), states)) return std::nullopt;
  return Cause{"states_alone", "the plan is of states alone: --seq plans whole steps", true};
}

/// The settings of two runs; a single one that differs is the cause of all that differs.
std::optional<Cause> settings(const Subject& subject, const ExplainedLine&) {
  std::vector<std::string> changes;
  for (const ConfigurationFact& fact : subject.configuration)
    if (fact.chosen && fact.differs(subject.column, subject.reference)) changes.push_back(subject.change(fact));
  if (changes.empty()) return std::nullopt;
  if (changes.size() == 1) return Cause{"setting", changes.front() + ", the only setting that differs", true};
  return Cause{"settings", "settings that differ: " + join(changes, ", "), false};
}

/// A fact of the configuration, and which lines follow from it; all where none are named.
struct Effect {
  const char* key;
  std::span<const std::string_view> accounts;
};

constexpr std::string_view of_a_step[] = {"activations", "temporaries", "inputs",          "workspaces",  "gradients",
                                          "rounding",    "cached",      "everything_else", "unattributed"};
constexpr std::string_view of_the_optimizer[] = {"optimizer_state", "temporaries", "rounding", "cached",
                                                 "everything_else"};
constexpr std::string_view of_the_software[] = {"activations", "temporaries", "workspaces",      "rounding",
                                                "cached",      "context",     "outside_pytorch", "everything_else"};

constexpr std::array effects = {Effect{"parameters", {}},         Effect{"precision", {}},
                                Effect{"micro batch", of_a_step}, Effect{"sequence", of_a_step},
                                Effect{"attention", of_a_step},   Effect{"checkpoint", of_a_step},
                                Effect{"accumulate", of_a_step},  Effect{"optimizer", of_the_optimizer},
                                Effect{"GPU", of_the_software},   Effect{"torch", of_the_software}};

std::optional<Cause> configuration(const Subject& subject, const ExplainedLine& one) {
  std::vector<std::string> changes;
  for (const Effect& effect : effects)
    if (const auto* fact = subject.differing(effect.key); fact && is_one_of(account_of(*one.line), effect.accounts))
      changes.push_back(subject.change(*fact));
  if (changes.empty()) return std::nullopt;
  return Cause{"configuration", join(changes, ", "), false};
}

/// Bytes whose owner one source does not know are missing in the lines of the other.
std::optional<Cause> not_attributed(const Subject& subject, const ExplainedLine& one) {
  constexpr std::string_view beside[] = {"unattributed", "rounding",        "cached",
                                         "context",      "outside_pytorch", "other_processes"};
  const std::int64_t unknown = subject.difference_of("unattributed");
  if (unknown == 0) return std::nullopt;
  std::int64_t missing = 0;  // in the lines of the source that does not know the owners
  for (const ExplainedLine& other : subject.lines)
    if (!is_one_of(account_of(*other.line), beside) && (other.bytes < 0) == (unknown > 0)) missing += other.bytes;
  if (missing == 0 || std::abs(missing) > std::abs(unknown)) return std::nullopt;
  if (account_of(*one.line) == "unattributed") {
    const auto part = static_cast<std::uint64_t>(std::abs(missing));
    if (missing + unknown == 0) return Cause{"not_attributed", "what the other lines lack", true};
    return Cause{"not_attributed", fmt::format("{} of it is what the other lines lack", format_bytes(part)), false,
                 part};
  }
  if (is_one_of(account_of(*one.line), beside) || (one.bytes < 0) != (unknown > 0)) return std::nullopt;
  return Cause{"not_attributed", "within [unattributed]: that source does not know these owners",
               missing + unknown == 0};
}

/// Another line that has as many bytes the other way; null where there is none, or several.
const ExplainedLine* counterpart(const Subject& subject, const ExplainedLine& one) {
  const ExplainedLine* found = nullptr;
  for (const ExplainedLine& other : subject.lines) {
    if (other.bytes != -one.bytes) continue;
    if (found != nullptr) return nullptr;
    found = &other;
  }
  return found;
}

/// As many bytes the other way in one other line, or at least as many in other lines of the same account.
std::optional<Cause> moved(const Subject& subject, const ExplainedLine& one) {
  constexpr std::int64_t smallest = 512;
  if (std::abs(one.bytes) < smallest) return std::nullopt;
  if (const ExplainedLine* other = counterpart(subject, one))
    return Cause{"moved",
                 fmt::format("as much {} in {}: the sources call it differently", one.bytes > 0 ? "less" : "more",
                             other->line->id),
                 false};
  const std::string_view account = account_of(*one.line);
  std::int64_t opposite = 0;
  for (const ExplainedLine& other : subject.lines)
    if (account_of(*other.line) == account && (other.bytes < 0) != (one.bytes < 0)) opposite += other.bytes;
  if (std::abs(opposite) < std::abs(one.bytes)) return std::nullopt;
  return Cause{"moved",
               fmt::format("as much the other way in other lines of {}: the sources put it elsewhere", account), false};
}

std::optional<Cause> context(const Subject& subject, const ExplainedLine& one) {
  const std::string_view account = account_of(*one.line);
  if (account != "context" && account != "outside_pytorch") return std::nullopt;
  if (subject.limits.context_estimated == subject.reference_limits.context_estimated) return std::nullopt;
  return Cause{"context", "the CUDA context is an estimate, a constant of the GPU, on one side", false};
}

std::optional<Cause> moment(const Subject& subject, const ExplainedLine& one) {
  const std::string &here = subject.limits.moment, &there = subject.reference_limits.moment;
  if (here.empty() || there.empty() || here == there || !is_one_of(account_of(*one.line), of_a_step))
    return std::nullopt;
  return Cause{"moment", fmt::format("another moment: {} against {}", here, there), false};
}

/// Rounding and what lies idle follow from the requests: where those differ, they do.
std::optional<Cause> follows(const Subject& subject, const ExplainedLine& one) {
  constexpr std::string_view followers[] = {"rounding", "cached"};
  if (!is_one_of(account_of(*one.line), followers)) return std::nullopt;
  const bool others = std::ranges::any_of(subject.lines, [&](const ExplainedLine& other) {
    return !is_one_of(account_of(*other.line), followers) && is_one_of(account_of(*other.line), of_a_step);
  });
  if (!others) return std::nullopt;
  return Cause{"follows", "follows from the requests of the lines that differ", false};
}

constexpr std::array<Rule, 8> rules = {states_alone, settings, configuration, not_attributed,
                                       moved,        context,  moment,        follows};

std::optional<Cause> cause_of(const Subject& subject, const ExplainedLine& line) {
  for (const Rule rule : rules)
    if (auto cause = rule(subject, line)) return cause;
  return std::nullopt;
}

std::vector<ExplainedLine> differing_lines(const JoinedLine& root, std::size_t column, std::size_t reference) {
  std::vector<ExplainedLine> lines;
  for (const JoinedLine* leaf : ledger::leaves(root))
    if (const std::int64_t bytes = leaf->difference(column, reference); bytes != 0) lines.push_back({leaf, bytes, {}});
  std::ranges::stable_sort(lines, std::ranges::greater(), [](const ExplainedLine& one) { return std::abs(one.bytes); });
  return lines;
}

}  // namespace

bool ConfigurationFact::differs(std::size_t left, std::size_t right) const {
  const auto &one = values[left], &other = values[right];
  return one && other && one != other;
}

Comparison compare(const ledger::Joined& joined, const std::vector<ConfigurationFact>& configuration,
                   const std::vector<ColumnLimits>& limits, std::size_t column, std::size_t reference) {
  Comparison result{column, reference, joined.root.difference(column, reference), {}, 0, 0};
  const Subject subject{configuration, limits[column], limits[reference],
                        column,        reference,      differing_lines(joined.root, column, reference)};
  result.lines = subject.lines;
  for (ExplainedLine& one : result.lines) {
    one.cause = cause_of(subject, one);
    const auto bytes = static_cast<std::uint64_t>(std::abs(one.bytes));
    const std::uint64_t explained = one.cause ? one.cause->part.value_or(bytes) : 0;
    result.explained += explained;
    result.unexplained += bytes - explained;
  }
  return result;
}

}  // namespace ullage::findings
