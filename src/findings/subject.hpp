// SPDX-License-Identifier: Apache-2.0
// What rules read: the evidence, and the questions that many of them ask of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/settings.hpp"
#include "ledger/breakdown.hpp"
#include "ledger/run_ledger.hpp"
#include "ledger/transfers.hpp"

namespace ullage::findings {

using attribution::Category;
using ledger::PhaseName;
using timeline::AllocationId;

/// The evidence. What a source does not know is empty; a rule that needs it says nothing. All of it must outlive the
/// Subject.
struct Facts {
  ledger::Cut peak;  ///< of allocated memory
  const timeline::InitialState* initial = nullptr;
  ledger::RunInput run;  ///< marks, named tensors, history, operators
  const ledger::RunLedger* ledger = nullptr;
  std::span<const timeline::CallId> calls;         ///< by allocation; empty without operators
  std::span<const attribution::PhaseSpan> phases;  ///< where there are no marks
  std::vector<ledger::StepTransfers> transfers;
  std::span<const attribution::PaddingMask> masks;
  std::span<const attribution::ZeroGrad> zero_grads;
  allocator::Rules rules;                 ///< of the allocator's version
  std::uint64_t reserved_peak = 0;        ///< of PyTorch, in bytes
  std::optional<std::uint64_t> capacity;  ///< of the device, in bytes
  double headroom = 0.15;                 ///< the share of it that is to stay free
  std::uint64_t reserve = 0;              ///< bytes taken off the capacity first
  bool fits = false;                      ///< the run ended well within the capacity
};

/// One call of an outermost module, between its two marks.
struct Forward {
  std::size_t begin = 0, end = 0;  ///< events
  std::uint32_t step = 0;
  std::optional<bool> grad_enabled, training;
};

/// From how many bytes on something is worth a word, of a peak: 3 % of it, and 1 MiB.
std::uint64_t worth_of(std::uint64_t peak);

struct Survivors;
struct Unreached;

class Subject {
 public:
  explicit Subject(Facts facts);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const timeline::Timeline& timeline() const { return *facts_.peak.timeline; }
  [[nodiscard]] const timeline::Allocations& allocations() const { return *facts_.peak.allocations; }

  // --- of one allocation ---
  [[nodiscard]] std::uint64_t bytes(AllocationId id) const { return allocations().requested[id]; }
  [[nodiscard]] Category category(AllocationId id) const { return label(id).category; }
  [[nodiscard]] std::string_view kind(AllocationId id) const { return text(label(id).kind); }
  [[nodiscard]] std::string_view module(AllocationId id) const { return text(label(id).module); }
  [[nodiscard]] std::string_view operation(AllocationId id) const { return text(label(id).operation); }
  [[nodiscard]] std::string_view name(AllocationId id) const { return text(label(id).name); }
  /// Whether an operator of this name was running when it was made; false without a record of operators.
  [[nodiscard]] bool inside(AllocationId id, std::string_view operation) const;
  /// The phase in which it was made; nothing for what is older than the recording, or without phases.
  [[nodiscard]] const attribution::PhaseSpan* birth(AllocationId id) const;
  /// The phase in which its free was asked for; nothing when it lived on.
  [[nodiscard]] const attribution::PhaseSpan* death(AllocationId id) const;

  // --- of the moment of the peak ---
  /// What was allocated then, in the order of birth.
  [[nodiscard]] std::span<const AllocationId> live() const { return live_; }
  [[nodiscard]] std::uint64_t allocated() const { return allocated_; }
  /// The phase of the peak; nothing without phases.
  [[nodiscard]] const attribution::PhaseSpan* peak_phase() const;
  /// worth_of() the peak.
  [[nodiscard]] std::uint64_t worth() const;

  // --- of the run ---
  [[nodiscard]] std::span<const attribution::PhaseSpan> phases() const { return phases_; }
  /// Events at which a step ends, or, where nothing steps, at which an outermost forward begins.
  [[nodiscard]] std::span<const std::size_t> rounds() const { return rounds_; }
  [[nodiscard]] std::span<const Forward> forwards() const { return forwards_; }
  [[nodiscard]] bool has(PhaseName phase) const;
  /// Where the last round ended that was over at an event; 0 when none was.
  [[nodiscard]] std::size_t round_before(std::size_t event) const;
  /// The named tensors of a class at the last mark that has a complete list of them.
  [[nodiscard]] std::vector<const ledger::Tensor*> tensors(ledger::TensorClass wanted) const;

 private:
  // What several rules ask for, made when the first does.
  friend const Survivors& survivors_of(const Subject& subject);
  friend const Unreached& unreached_in(const Subject& subject);
  mutable std::unique_ptr<const Survivors> survivors_;
  mutable std::unique_ptr<const Unreached> unreached_;

  [[nodiscard]] const attribution::Label& label(AllocationId id) const { return facts_.peak.labels->of[id]; }
  [[nodiscard]] std::string_view text(timeline::StringId id) const { return facts_.peak.labels->strings.text(id); }
  void take_phases();
  void take_rounds();
  void take_forwards();

  Facts facts_;
  std::vector<AllocationId> live_;
  std::uint64_t allocated_ = 0;
  std::vector<attribution::PhaseSpan> phases_;
  std::vector<std::size_t> rounds_;
  std::vector<Forward> forwards_;
};

}  // namespace ullage::findings
