// SPDX-License-Identifier: Apache-2.0
// What a run told about itself: the boundaries of its phases and the tensors it owned at them. Sizes are bytes.
// Source of the meanings: docs/run_directory.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ullage::attribution {

enum class MarkName : std::uint8_t {
  load_begin,
  forward_begin,
  forward_end,
  backward_begin,
  backward_end,
  optimizer_begin,
  optimizer_end,
  run_end,
  step_end,  ///< of a step whose phases nobody marked
  other,     ///< a name this version does not know
};

/// PyTorch's own counters at one moment.
struct MarkCounters {
  std::uint64_t allocs = 0, frees = 0;  ///< allocations and frees since the process began
  std::uint64_t segments_allocated = 0, segments_freed = 0;
  std::uint64_t allocated = 0, reserved = 0, requested = 0, active = 0;
  std::uint64_t peak_allocated = 0, peak_reserved = 0;  ///< since the script last reset them
  std::uint64_t retries = 0, ooms = 0;
  std::uint64_t time_ns = 0;
  bool since_known = false;  ///< the following are there: the peaks since the mark before
  std::uint64_t since_allocated = 0, since_reserved = 0, since_requested = 0;
};

struct Mark {
  std::uint32_t index = 0;
  MarkName name = MarkName::other;
  std::uint32_t step = 0;         ///< from 1; 0 before the first
  std::uint32_t micro_batch = 0;  ///< from 1 in each step; 0 before the first
  std::string optimizer;          ///< empty when not given
  MarkCounters counters;
  std::optional<bool> grad_enabled = {},
                      training = {};  ///< of forward_begin: torch.is_grad_enabled(), the module's mode
};

/// The classes of tensors that can be named, in the order in which they own a storage. `held` is a tensor that some
/// other object of the script holds (an optimizer of its own, a cache); `output` is what a model's forward returned.
enum class TensorClass : std::uint8_t { parameter, buffer, gradient, optimizer_state, input, held, output };
inline constexpr std::size_t tensor_classes = 7;

struct Tensor {
  TensorClass tensor_class = TensorClass::parameter;
  std::string name;
  std::string state;  ///< of optimizer state: `exp_avg` ...
  std::string dtype;
  std::string optimizer;
  std::uint64_t address = 0;  ///< of the storage
  std::uint64_t bytes = 0;    ///< of the storage
  bool frozen = false;        ///< a parameter that requires no gradient
};

/// The tensors seen at one mark. For a class in `complete`, earlier lists no longer hold.
struct TensorList {
  std::size_t mark = 0;  ///< position in the list of marks (not Mark::index)
  bool complete[tensor_classes] = {};
  std::vector<Tensor> tensors;
};

/// The lengths of sequences that a mask of padding states, an argument of an outermost forward.
struct PaddingMask {
  std::string name;  ///< the argument's
  std::uint32_t step = 0;
  std::uint64_t rows = 0, columns = 0;  ///< sequences and tokens of each
  std::uint64_t kept = 0;               ///< tokens that are none of padding
  std::uint64_t kept_squared = 0;       ///< the sum over the sequences of their kept tokens squared
  std::string line = {};                ///< "file:line function" of the call
};

/// A place where the script gives gradients up.
struct ZeroGrad {
  std::string line;         ///< "file:line function"
  bool set_to_none = true;  ///< false: they stay, filled with zeros
  std::string phase;        ///< in which it was called
  std::uint64_t bytes = 0;  ///< of the parameters whose gradients it gives up
};

/// Gradients that were still there when an optimizer's next step began, and that nobody had zeroed.
struct KeptGradients {
  std::uint32_t step = 0;
  std::string line;  ///< "file:line function" of the optimizer's step
  std::uint64_t count = 0, bytes = 0;
};

/// A DataLoader as it was when a batch came, and the memory of the machine that the run is for.
struct Loader {
  std::uint64_t workers = 0;
  bool pin_memory = false;
  std::uint64_t prefetch_factor = 0;  ///< batches of each worker that may wait
  std::uint64_t batch_bytes = 0;
  std::uint64_t host_capacity_bytes = 0;  ///< 0: not known
};

enum class PhaseName : std::uint8_t { load, forward, backward, optimizer, other, run };
const char* name_of(PhaseName name);

/// A phase as a range of the timeline's events. Here `forward` lasts until the backward pass begins: what the script
/// computes between the two, a loss for example, is part of the graph.
struct PhaseSpan {
  PhaseName name = PhaseName::run;
  std::uint32_t step = 0;
  std::uint32_t micro_batch = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Position of the phase in which an event lies; 0 before the first. The phases are in order.
std::size_t phase_at(std::span<const PhaseSpan> phases, std::size_t event);

}  // namespace ullage::attribution
