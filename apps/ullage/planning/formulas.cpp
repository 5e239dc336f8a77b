// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/formulas.hpp"

#include "apps/ullage/planning/point.hpp"
#include "base/bytes.hpp"
#include "planner/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ullage::cli {
namespace {

/// 32 x 56.00 MiB + 32 x 128.00 MiB = 5.75 GiB
std::string sizes_text(const planner::LineOrigin& origin) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(origin.sizes.size(), most); ++i)
    text += fmt::format("{}{} x {}", i > 0 ? " + " : "", origin.sizes[i].second, format_bytes(origin.sizes[i].first));
  if (origin.sizes.size() > most) text += " + ...";
  return fmt::format("{} = {}", text, format_bytes(origin.bytes));
}

std::uint64_t bytes_of(const planner::StepPlan& plan, const char* id) {
  const auto found = std::ranges::find(plan.lines, id, &ledger::Line::id);
  return found == plan.lines.end() ? 0 : found->bytes;
}

}  // namespace

std::vector<report::PlanFormula> formulas_of(const lowering::Setup& setup, const program::Program& program,
                                             const planner::StepPlan& plan) {
  std::vector<report::PlanFormula> formulas;
  for (const planner::LineOrigin& origin : planner::origins_of(program, plan.live))
    formulas.push_back({origin.line, sizes_text(origin),
                        report::where_text(moment_of(setup, planner::moment_at(program, origin.first_event)))});
  formulas.push_back({"rounding",
                      fmt::format("blocks are multiples of 512 B, and cached ones are not always split = {}",
                                  format_bytes(bytes_of(plan, "rounding"))),
                      "load"});
  const std::uint64_t cached = bytes_of(plan, "cached");
  formulas.push_back({"cached",
                      fmt::format("reserved {} - allocated {} = {}", format_bytes(plan.peak_reserved),
                                  format_bytes(plan.peak_reserved - cached), format_bytes(cached)),
                      "the first tensor that goes; PyTorch keeps its segment"});
  return formulas;
}

}  // namespace ullage::cli
