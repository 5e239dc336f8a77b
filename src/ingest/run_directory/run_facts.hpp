// SPDX-License-Identifier: Apache-2.0
// Reads marks.jsonl, the facts and marks that the Python hook wrote. Format: docs/run_directory.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ledger/facts.hpp"

namespace ullage::ingest {

struct ProcessFacts {
  std::int64_t pid = 0;
  std::vector<std::string> argv;
  std::string python, torch, cuda, cudnn, cwd, hook_version;  ///< empty when not given
};

/// Recording of PyTorch's memory history began.
struct HistoryStart {
  std::string stacks;  ///< `python`, `all`, `none`
  std::optional<std::uint64_t> max_entries;
  int device = 0;
  ledger::MarkCounters counters;
  std::size_t marks_before = 0;            ///< how many marks stand before it
  std::optional<std::size_t> marks_until;  ///< how many stand before its end; nothing where it lasts to the run's end
};

/// An OutOfMemoryError was raised. Sizes are bytes.
struct OutOfMemory {
  std::uint64_t requested_bytes = 0, total_bytes = 0, free_bytes = 0;
  std::uint32_t step = 0, micro_batch = 0;
  std::string phase, module, line, text;  ///< empty when not known
  std::size_t marks_before = 0;           ///< how many marks stand before it
  ledger::MarkCounters counters;
};

struct ScriptException {
  std::string type, text;
  bool oom = false;
};

struct StopFacts {
  std::string reason;
  std::uint32_t steps = 0;
};

struct BatchFacts {
  std::uint32_t step = 0;
  std::string shapes;  ///< as JSON
};

/// A named policy stood for a value that nobody computed.
struct PolicyUse {
  std::string policy, line, text;
};

/// Host memory of the process at one moment. Bytes.
struct HostFacts {
  std::uint64_t time_ns = 0;              ///< CLOCK_MONOTONIC
  bool at_the_end = false;                ///< of the run; what the process holds later is not the script's
  std::uint64_t peak_resident_bytes = 0;  ///< the kernel's own highest value (VmHWM)
  std::uint64_t device_pages_bytes = 0;   ///< host pages behind device memory
  std::uint64_t pinned_bytes = 0, pinned_touched_bytes = 0;
  std::uint64_t hook_bytes = 0;        ///< what the hook took when it started
  std::uint64_t operator_entries = 0;  ///< allocations that the record of operators covers
  std::uint64_t history_entries = 0;   ///< allocations that PyTorch's memory history holds
};

/// Batches that a DataLoader gave within one step (0: after the last), each with the time that the script waited.
struct LoadFacts {
  std::uint32_t step = 0;
  std::vector<std::uint64_t> ns;
};

/// Tensor.pin_memory over the whole run: how often, what was asked for, the blocks that came.
struct PinningFacts {
  std::uint64_t times = 0, requested_bytes = 0, taken_bytes = 0;
};

/// What torch.compile did.
struct CompilerFacts {
  std::uint64_t graphs = 0;
  std::uint64_t compiled = 0;  ///< of the graphs: those that no cache held
  std::uint64_t timed = 0;     ///< kernels that were timed on the device
};

/// What a Hugging Face model was trained with, as the first trained forward showed it.
struct SetupFacts {
  std::string config;               ///< its configuration, as JSON
  std::string attention;            ///< sdpa, eager ...; empty when not said
  std::vector<std::string> dtypes;  ///< of the parameters: float32
  std::string autocast;             ///< the type that autocast computes in; empty without
  std::string shapes;               ///< of the tensors that the forward was given, as JSON
  bool tf32 = false, checkpointing = false;
  std::uint64_t parameters = 0, trained_parameters = 0;
};

/// The first optimizer that stepped.
struct OptimizerFacts {
  std::string module, name;  ///< torch.optim.adamw, AdamW
  std::optional<bool> foreach, fused;
  bool amsgrad = false, momentum = false;
};

/// A training of which this is the record, on a real device or within a rehearsal.
struct RecordingFacts {
  std::string name, host;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;  ///< 0: not said
  bool rehearsal = false;        ///< on the virtual GPU of a rehearsal: its times are nobody's
};

/// The device that was recorded.
struct DeviceFacts {
  std::string name, compute_capability;
  std::uint32_t number = 0;
  std::uint64_t total_bytes = 0;
};

/// What the recorder's sampler saw at one moment. Bytes; 0 where it is not known.
struct Sample {
  std::uint64_t time_ns = 0;
  std::uint64_t resident_bytes = 0, pinned_bytes = 0;
  std::uint64_t children = 0, children_bytes = 0;
  std::uint64_t reserved_bytes = 0;      ///< PyTorch's, at this moment
  std::uint64_t device_used_bytes = 0;   ///< of the whole device, other processes included
  std::uint64_t process_used_bytes = 0;  ///< of this process, context included
};

struct TokenFacts {
  std::uint32_t step = 0;
  std::uint64_t tokens = 0;
  std::optional<std::uint64_t> effective;  ///< those that are none of padding
};

/// A step whose times are not the training's own.
struct LeftOut {
  std::uint32_t step = 0;
  std::string why;
};

struct EndFacts {
  std::string status, snapshot_error;
  bool snapshot = false;
  std::uint64_t problems = 0;  ///< the recorder's own errors
};

/// What a token of the training takes to compute, and at what rate the device can. 0 where it is not known.
struct WorkFacts {
  std::uint64_t flops_per_token = 0;  ///< forward and backward, without recomputation
  std::string rule;                   ///< how they are known
  std::string precision;              ///< of the multiplications: bf16, fp16, tf32, fp32; empty when not known
  std::uint64_t peak_flops = 0;       ///< FLOP/s, as the script gave them
};

struct RunFacts {
  std::optional<ProcessFacts> process;
  std::optional<HistoryStart> history;
  std::vector<ledger::Mark> marks;
  std::vector<ledger::TensorList> lists;
  std::uint32_t named_until = 0;  ///< the last step in which tensors were named
  std::vector<OutOfMemory> ooms;
  std::optional<std::uint64_t> caught_ooms;
  std::optional<ScriptException> exception;
  std::optional<StopFacts> stop;
  std::vector<BatchFacts> batches;
  std::optional<SetupFacts> setup;
  std::optional<OptimizerFacts> optimizer;
  std::vector<attribution::PaddingMask> masks;
  std::vector<attribution::ZeroGrad> zero_grads;
  std::vector<attribution::KeptGradients> kept_gradients;
  std::vector<attribution::Loader> loaders;
  std::vector<std::string> notes;
  std::vector<std::string> saw;
  std::vector<PolicyUse> policies;
  std::vector<HostFacts> host;
  std::vector<LoadFacts> loads;
  PinningFacts pinning;
  std::string allocator;                  ///< PyTorch's backend: native, cudaMallocAsync, uncached; empty when not said
  std::optional<CompilerFacts> compiler;  ///< nothing when nothing was compiled
  std::optional<RecordingFacts> recording;  ///< nothing in a rehearsal
  std::optional<DeviceFacts> device;        ///< of a recording
  std::vector<Sample> samples;
  std::vector<TokenFacts> tokens;
  std::optional<WorkFacts> work;
  std::vector<LeftOut> left_out;
  std::optional<EndFacts> end;
  std::uint64_t records = 0;     ///< records read
  std::uint64_t bad_values = 0;  ///< values of a wrong kind or out of range, left out
  std::uint64_t lost_bytes = 0;  ///< from the damage on
  std::optional<Error>
      damage;  ///< the first line that does not match its checksum or is no record; reading ended there
  [[nodiscard]] bool partial() const { return damage.has_value() || !end.has_value(); }
};

/// Reads the text of a marks.jsonl. Never fails: what stands before the first damage is kept.
RunFacts read_run_facts(std::string_view text);

}  // namespace ullage::ingest
