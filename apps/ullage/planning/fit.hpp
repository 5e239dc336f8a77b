// SPDX-License-Identifier: Apache-2.0
// --fit: the largest micro batch, sequence or number of layers that fits with the headroom, or the fewest ranks.
#pragma once

#include "apps/ullage/planning/described.hpp"
#include "apps/ullage/planning/point.hpp"
#include "apps/ullage/planning/step_options.hpp"
#include "apps/ullage/progress.hpp"
#include "planner/search.hpp"
#include "report/plan_view.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace ullage::cli {

inline constexpr std::uint64_t most_world = 65'536;

/// Looks on one GPU after the other. What a value needs is found once for all GPUs of the same program.
class FitSearch {
 public:
  /// The arguments live as long as this.
  FitSearch(const PlanOptions& options, const StepOptions& step, const Described& found)
      : options_(options), step_(step), found_(found) {}

  /// The point of the value that was found; where none fits that of the easiest value, and `fit_value` is 0. Errors:
  /// those of the lowering of the first value.
  [[nodiscard]] Result<report::PlanPoint> on(const Gpu& gpu);

 private:
  /// The training of one value.
  struct Variant {
    PlanOptions options;
    lowering::Setup setup;
    model::Model model;
  };
  /// Bytes that PyTorch asks for and, where somebody wanted to know, reserves.
  struct Need {
    std::uint64_t value = 0;
    lowering::DeviceFacts facts;
    lowering::DeviceAnswers answers;
    std::uint64_t requested = 0;
    std::optional<std::uint64_t> reserved;
  };

  [[nodiscard]] planner::SearchRange range() const;
  [[nodiscard]] Result<Variant> variant_of(std::uint64_t value) const;
  [[nodiscard]] bool fits(const Gpu& gpu, std::uint64_t bytes) const;
  [[nodiscard]] planner::Trial trial_of(std::uint64_t value, const Gpu& gpu);
  /// Errors: those of the lowering.
  [[nodiscard]] Result<Need> need_of(std::uint64_t value, const Gpu& gpu);
  [[nodiscard]] Result<Need> planned_need(const Variant& variant, std::uint64_t value, const Gpu& gpu);
  [[nodiscard]] Result<const Lowered*> program_of(const Variant& variant, const Gpu& gpu);
  void note_next(report::PlanStep& step, const planner::SearchEnd& end, const Gpu& gpu);

  const PlanOptions& options_;
  const StepOptions& step_;
  const Described& found_;
  Progress progress_;
  std::vector<Need> needs_;
  std::optional<Lowered> kept_;  ///< of ranks, which are all cut from one program
};

}  // namespace ullage::cli
