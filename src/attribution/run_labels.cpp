// SPDX-License-Identifier: Apache-2.0
#include "attribution/run_labels.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_set>

#include "attribution/places.hpp"

namespace ullage::attribution {

namespace {

using timeline::AllocationId;
using timeline::Allocations;
using timeline::no_call;

// What PyTorch gives the libraries of a matrix product, once a handle and stream: cuBLAS its workspace, on compute
// capability 9.0 32 MiB; cuBLASLt 1 MiB, on 9.0 and 10 32 MiB (aten/src/ATen/cuda/CublasHandlePool.cpp,
// getChosenWorkspaceSize and getCUDABlasLtWorkspaceSize).
struct Workspace {
  std::uint64_t bytes;
  std::string_view library;
};
constexpr std::uint64_t hopper_workspace_bytes = 33554432;
constexpr Workspace matrix_workspaces[] = {
    {cublas_workspace_bytes, "cuBLAS"}, {hopper_workspace_bytes, "cuBLAS"}, {1048576, "cuBLASLt"}};

constexpr std::string_view matrix_products[] = {
    "aten::mm",         "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::matmul",           "aten::linear",
    "aten::_scaled_mm", "aten::addmv", "aten::dot", "aten::addmm_",  "aten::_addmm_activation"};

constexpr std::string_view cudnn_operators[] = {"aten::cudnn_convolution",      "aten::cudnn_convolution_transpose",
                                                "aten::cudnn_convolution_relu", "aten::cudnn_convolution_add_relu",
                                                "aten::convolution_backward",   "aten::_cudnn_rnn",
                                                "aten::_cudnn_rnn_backward"};

// The innermost Python frame that says something: not the plumbing through which everything goes.
std::string_view telling_file(const timeline::Timeline& timeline, timeline::StackId stack) {
  constexpr std::string_view plumbing[] = {"/torch/_ops.py", "/torch/_tensor.py", "/torch/utils/_contextlib.py",
                                           "/torch/autograd/function.py", "/ullage_hook/"};
  for (const timeline::FrameId id : timeline.stacks.stack(stack)) {
    const std::string_view file = timeline.strings.text(timeline.stacks.frame(id).file);
    const auto skipped = [file](std::string_view part) { return file.find(part) != file.npos; };
    if (file.ends_with(".py") && std::ranges::none_of(plumbing, skipped)) return file;
  }
  return {};
}

class RunLabeler {
 public:
  explicit RunLabeler(const RunEvidence& evidence)
      : evidence_(evidence), allocations_(*evidence.allocations), trace_(evidence.trace) {
    labels_.of.resize(allocations_.count());
    calls_.assign(evidence.calls.begin(), evidence.calls.end());
    calls_.resize(allocations_.count(), no_call);
    // A card asks for workspaces of one of the two sizes; results of a product may have the other.
    on_hopper_ = std::ranges::find(allocations_.requested, cublas_workspace_bytes) == allocations_.requested.end();
    last_failure_ = timeline::last_out_of_memory(*evidence.timeline).value_or(0);
  }

  Labels run() {
    name_tensors(evidence_, labels_);
    take_parameter_sizes();
    Places places(trace_ != nullptr ? *trace_ : empty_);
    for (AllocationId id = 0; id < allocations_.count(); ++id) {
      const Place place = places.of(calls_[id]);
      if (trace_ != nullptr) take_place(*trace_, place, labels_, id);
      if (labels_.of[id].by == AttributedBy::nothing) judge(id, place);
    }
    return std::move(labels_);
  }

 private:
  void take_parameter_sizes() {
    for (AllocationId id = 0; id < allocations_.count(); ++id) {
      if (labels_.of[id].category == Category::parameters) parameter_bytes_.insert(allocations_.requested[id]);
    }
  }

  void set(AllocationId id, Category category, AttributedBy by, std::string_view kind = {}) {
    Label& label = labels_.of[id];
    label.category = category;
    const bool in_module = by == AttributedBy::lifetime && label.module != 0;
    label.by = in_module ? AttributedBy::module : by;
    if (!kind.empty()) label.kind = labels_.strings.intern(kind);
  }

  void judge(AllocationId id, const Place& place) {
    const std::string_view file = telling_file(*evidence_.timeline, allocations_.stack[id]);
    if (is_communication_file(file)) return set(id, Category::communication, AttributedBy::frames);
    if (const auto library = workspace_library(id); !library.empty())
      return set(id, Category::workspaces, AttributedBy::size, library);
    if (is_cudnn_scratch(id)) return set(id, Category::workspaces, AttributedBy::module, "cuDNN");
    if (evidence_.phases.empty() || allocations_.older(id)) return;
    const std::size_t birth = phase_at(evidence_.phases, allocations_.born[id]);
    const bool dies = allocations_.freed[id] != Allocations::never;
    const std::size_t death = dies ? phase_at(evidence_.phases, allocations_.freed[id]) : evidence_.phases.size();
    switch (evidence_.phases[birth].name) {
      case PhaseName::forward:
        return judge_forward(id, birth, death);
      case PhaseName::backward:
        if (place.recomputed && outlives_operator(id, place))
          return set(id, Category::activations, AttributedBy::lifetime, "recomputed");
        return set(id, Category::temporaries, AttributedBy::lifetime);
      case PhaseName::optimizer:
        if (!dies) return judge_state(id);
        return set(id, Category::temporaries, AttributedBy::lifetime);
      default:
        return judge_outside(id, birth, death, dies);
    }
  }

  void judge_forward(AllocationId id, std::size_t birth, std::size_t death) {
    if (death == birth) return set(id, Category::temporaries, AttributedBy::lifetime);
    const auto& phases = evidence_.phases;
    const bool saved =
        death < phases.size() && phases[death].name == PhaseName::backward && phases[death].step == phases[birth].step;
    const bool unknown = allocations_.born[id] < last_failure_ && !has_backward(birth);
    set(id, Category::activations, AttributedBy::lifetime, saved || unknown ? "saved for backward" : "held");
  }

  // Whether the forward pass was followed by its backward pass: not when it ran out of memory.
  [[nodiscard]] bool has_backward(std::size_t forward) const {
    const auto later = evidence_.phases.subspan(forward);
    return std::ranges::any_of(later, [&](const PhaseSpan& phase) {
      return phase.name == PhaseName::backward && phase.step == later.front().step &&
             phase.micro_batch == later.front().micro_batch;
    });
  }

  void judge_state(AllocationId id) {
    if (parameter_bytes_.contains(allocations_.requested[id]))
      set(id, Category::optimizer_state, AttributedBy::lifetime, "not named");
  }

  void judge_outside(AllocationId id, std::size_t birth, std::size_t death, bool dies) {
    if (death == birth) return set(id, Category::temporaries, AttributedBy::lifetime);
    if (dies) set(id, Category::inputs, AttributedBy::lifetime, "not named");
  }

  // Empty when it is none.
  [[nodiscard]] std::string_view workspace_library(AllocationId id) const {
    if (allocations_.freed[id] != Allocations::never) return {};
    if (calls_[id] == no_call) return allocations_.requested[id] == cublas_workspace_bytes ? "cuBLAS" : "";
    const std::string_view name = trace_->strings.text(trace_->calls.name[calls_[id]]);
    if (std::ranges::find(matrix_products, name) == std::end(matrix_products)) return {};
    const auto found = std::ranges::find(matrix_workspaces, allocations_.requested[id], &Workspace::bytes);
    if (found == std::end(matrix_workspaces) || (found->bytes == hopper_workspace_bytes && !on_hopper_)) return {};
    return found->library;
  }

  // cuDNN's operators allocate their scratch themselves and give it back before they end; their results they keep.
  [[nodiscard]] bool is_cudnn_scratch(AllocationId id) const {
    if (calls_[id] == no_call || allocations_.freed[id] == Allocations::never) return false;
    const std::string_view name = trace_->strings.text(trace_->calls.name[calls_[id]]);
    if (std::ranges::find(cudnn_operators, name) == std::end(cudnn_operators)) return false;
    const std::int64_t end = trace_->base_ns + trace_->calls.end_ns[calls_[id]];
    return evidence_.timeline->events.time_us[allocations_.freed[id]] * 1000 < end;
  }

  [[nodiscard]] bool outlives_operator(AllocationId id, const Place& place) const {
    if (allocations_.freed[id] == Allocations::never || place.outermost == no_call) return true;
    const std::int64_t end = trace_->base_ns + trace_->calls.end_ns[place.outermost];
    return evidence_.timeline->events.time_us[allocations_.freed[id]] * 1000 > end;
  }

  const RunEvidence& evidence_;
  const Allocations& allocations_;
  const timeline::Trace* trace_;
  timeline::Trace empty_;
  Labels labels_;
  std::vector<timeline::CallId> calls_;
  std::unordered_set<std::uint64_t> parameter_bytes_;
  bool on_hopper_ = false;
  std::size_t last_failure_ = 0;  ///< index of the last out-of-memory event; 0 when there is none
};

}  // namespace

Labels label_run(const RunEvidence& evidence) {
  return RunLabeler(evidence).run();
}

}  // namespace ullage::attribution
