// SPDX-License-Identifier: Apache-2.0
// The step program: what a training asks of the device's memory, in order, and which operators it runs. Columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ullage::program {

enum class Phase : std::uint8_t { load, forward, backward, optimizer, other };
[[nodiscard]] std::string_view name_of(Phase phase);

/// What a tensor is, the stronger first: a tensor that is several of these counts once, as the first of them.
enum class Role : std::uint8_t {
  parameter,
  buffer,
  gradient,
  optimizer_state,
  workspace,
  input,
  activation,  ///< saved for the backward pass
  temporary,
};

using TensorId = std::uint32_t;
using OperatorId = std::uint32_t;
using ModuleId = std::uint32_t;

/// What kind of work an operator does, for its cost.
enum class Work : std::uint8_t { none, matmul, attention, pointwise, reduction, copy, gather, optimizer };

/// One operator that ran.
struct Operator {
  const char* name = "";  ///< aten::mm; of static storage
  ModuleId module = 0;
  Work work = Work::none;
  bool recomputed = false;                       ///< run again by activation checkpointing
  std::uint8_t bits = 0;                         ///< of the numbers it computes with
  bool tensor_cores = false;                     ///< fp32 operands are tf32
  bool causal = false;                           ///< an attention kernel that leaves out what the causal mask hides
  std::uint32_t launches = 1;                    ///< kernels that it launches
  double flops = 0;                              ///< 2 for each multiply-add; matmul and attention only
  double bytes = 0;                              ///< read and written, each tensor once
  std::uint64_t m = 0, n = 0, k = 0, batch = 0;  ///< of a matmul
};

/// A tensor of its own storage.
struct Tensor {
  std::uint64_t bytes = 0;  ///< as asked of the allocator
  Role role = Role::temporary;
  OperatorId by = 0;           ///< the operator that asked
  const char* kind = nullptr;  ///< within its role: exp_avg; of static storage
};

/// From here on, until the next mark.
struct Mark {
  std::size_t event = 0;
  std::size_t first_operator = 0;
  Phase phase = Phase::load;
  std::uint32_t step = 0;         ///< from 1; 0 in load
  std::uint32_t micro_batch = 0;  ///< from 1; 0 outside forward and backward
};

/// A request (`tensor`) or its end (`~tensor`).
using Event = std::int32_t;
[[nodiscard]] constexpr bool is_request(Event event) {
  return event >= 0;
}
[[nodiscard]] constexpr TensorId tensor_of(Event event) {
  return static_cast<TensorId>(event >= 0 ? event : ~event);
}

/// A name in the tree of modules.
struct Module {
  ModuleId parent = 0;
  std::string name;  ///< of its own: q_proj
};

class Program {
 public:
  std::vector<Tensor> tensors;
  std::vector<Event> events;
  std::vector<Operator> operators;
  std::vector<Mark> marks;
  std::vector<Module> modules{{0, {}}};  ///< the first is the root

  /// The module of that name below `parent`, made if it is new.
  ModuleId module(ModuleId parent, std::string_view name);
  /// model.layers.3.mlp
  [[nodiscard]] std::string module_path(ModuleId module) const;

 private:
  std::unordered_map<std::string, ModuleId> children_;  ///< by parent and name
};

}  // namespace ullage::program
