// SPDX-License-Identifier: Apache-2.0
// What the operators of one step of a program do: FLOPs, bytes and launches, by class of work and by pass.
#pragma once

#include "program/program.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace ullage::cost {

using OperatorWork = program::Work;

/// In which pass of a step an operator runs. What checkpointing runs again is in the backward phase, but a pass of its
/// own.
enum class Pass : std::uint8_t { forward, recomputed, backward, optimizer };
inline constexpr std::array passes{Pass::forward, Pass::recomputed, Pass::backward, Pass::optimizer};
[[nodiscard]] std::string_view name_of(Pass pass);

inline constexpr std::array operator_classes{OperatorWork::none,      OperatorWork::matmul,    OperatorWork::attention,
                                             OperatorWork::pointwise, OperatorWork::reduction, OperatorWork::copy,
                                             OperatorWork::gather,    OperatorWork::optimizer};
/// matmul, attention, pointwise ...; other for operators without a class.
[[nodiscard]] std::string_view name_of(OperatorWork work);

struct WorkTotal {
  double flops = 0;  ///< 2 for each multiply-add; of matmul and attention
  double bytes = 0;  ///< read and written
  std::uint64_t operators = 0, launches = 0;

  WorkTotal& operator+=(const WorkTotal& other);
};

/// Totals of one step.
struct StepWork {
  std::array<std::array<WorkTotal, operator_classes.size()>, passes.size()> cells;

  [[nodiscard]] const WorkTotal& of(Pass pass, OperatorWork work) const {
    return cells[static_cast<std::size_t>(pass)][static_cast<std::size_t>(work)];
  }
  [[nodiscard]] WorkTotal of(Pass pass) const;
  [[nodiscard]] WorkTotal of(OperatorWork work) const;
  [[nodiscard]] WorkTotal all() const;
};

/// Calls `visit` for each operator of a step in order; without `step` of the last one. Operators of loading and between
/// steps are left out.
void for_each_operator(const program::Program& program, std::optional<std::uint32_t> step,
                       const std::function<void(const program::Operator&, Pass)>& visit);

[[nodiscard]] StepWork work_of(const program::Program& program, std::optional<std::uint32_t> step = std::nullopt);

}  // namespace ullage::cost
