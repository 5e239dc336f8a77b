// SPDX-License-Identifier: Apache-2.0
#include "attribution/bare_labels.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace ullage::attribution {

namespace {

using timeline::AllocationId;
using timeline::Allocations;

// What the frames of a stack say about an allocation.
struct FrameFacts {
  bool any_python = false;
  bool autograd = false;      // the autograd engine runs
  bool optimizer = false;     // a file of torch.optim
  bool module_setup = false;  // a module is built or moved
  bool workspace = false;
  bool distributed = false;
  bool cudnn = false;  // a convolution or a recurrent net
};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

FrameFacts facts_of(const timeline::Timeline& timeline, timeline::StackId stack) {
  FrameFacts facts;
  bool innermost = true;
  for (const timeline::FrameId id : timeline.stacks.stack(stack)) {
    const timeline::Frame& frame = timeline.stacks.frame(id);
    const std::string_view file = timeline.strings.text(frame.file), name = timeline.strings.text(frame.name);
    facts.autograd |= has(name, "torch::autograd::Engine") || has(name, "Backward0::apply");
    facts.workspace |=
        has(name, "CUDABlasWorkspace") || has(name, "CUDABlasHandle") || has(name, "CUDABlasLtWorkspace");
    // The hook of a rehearsal computes small values in front of kernels; on a GPU these frames are not there.
    if (!file.ends_with(".py") || has(file, "/ullage_hook/") || file.ends_with("/torch/_ops.py")) continue;
    facts.any_python = true;
    facts.optimizer |= has(file, "/torch/optim/");
    facts.module_setup |=
        has(file, "/torch/nn/modules/module.py") && (name == "_apply" || name == "to" || name == "cuda");
    facts.module_setup |= name == "from_pretrained" || has(file, "/torch/nn/init.py");
    facts.module_setup |= has(file, "/torch/nn/modules/") && name == "__init__";
    facts.cudnn |= has(file, "/torch/nn/modules/conv.py") || has(file, "/torch/nn/modules/rnn.py");
    if (innermost) facts.distributed = is_communication_file(file);
    innermost = false;
  }
  return facts;
}

// One optimizer step as events: [begin, end).
struct Window {
  std::size_t begin = 0, end = 0;
};

class BareLabeler {
 public:
  explicit BareLabeler(const BareEvidence& evidence)
      : timeline_(*evidence.timeline),
        events_(timeline_.events),
        allocations_(*evidence.allocations),
        evidence_(evidence) {
    labels_.of.resize(allocations_.count());
    stacks_are_recorded_ =
        std::ranges::any_of(allocations_.stack, [](auto stack) { return stack != timeline::no_stack; });
    for (AllocationId id = 0; id < allocations_.count() && !uses_cudnn_; ++id) uses_cudnn_ = facts(id).cudnn;
  }

  Labels run() {
    find_steps();
    find_backwards();
    for (AllocationId id = 0; id < allocations_.count(); ++id) label_by_life(id);
    label_parameters();
    return std::move(labels_);
  }

 private:
  const FrameFacts& facts(AllocationId id) {
    const auto [it, added] = facts_.try_emplace(allocations_.stack[id]);
    if (added) it->second = facts_of(timeline_, allocations_.stack[id]);
    return it->second;
  }

  [[nodiscard]] std::size_t event_at(std::int64_t time_us) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(events_.time_us, time_us) - events_.time_us.begin());
  }

  // Optimizer steps from the ranges that torch.optim writes; without them from the frames of its files.
  void find_steps() {
    std::int64_t begun = -1;
    for (const Annotation& annotation : evidence_.annotations) {
      if (!annotation.name.starts_with("Optimizer.step#")) continue;
      if (annotation.start) begun = annotation.time_us;
      if (!annotation.start && begun >= 0) {
        add_step({event_at(begun), event_at(annotation.time_us + 1)});
        begun = -1;
      }
    }
    if (begun >= 0) add_step({event_at(begun), events_.count()});  // the run ended in it
    annotated_ = !steps_.empty();
    if (!annotated_) find_steps_by_frames();
  }

  void find_steps_by_frames() {
    bool in_step = false;
    for (std::size_t id = allocations_.before_trace; id < allocations_.count(); ++id) {
      if (!facts(static_cast<AllocationId>(id)).optimizer) {
        in_step = false;
        continue;
      }
      const std::size_t event = allocations_.born[id];
      if (in_step) {
        steps_.back().end = event + 1;
      } else {
        steps_.push_back({event, event + 1});
      }
      in_step = true;
    }
  }

  void add_step(const Window& window) {
    if (steps_.empty() || window.begin >= steps_.back().end) steps_.push_back(window);
  }

  // A backward pass lasts from its first allocation, after the step before, to its optimizer step. The autograd thread
  // runs no Python code, so that its allocations have no Python frame.
  void find_backwards() {
    backward_begin_.assign(steps_.size(), Allocations::never);
    for (std::size_t id = allocations_.before_trace; id < allocations_.count(); ++id) {
      if (!in_backward_thread(static_cast<AllocationId>(id))) continue;
      const std::size_t step = step_after(allocations_.born[id]);
      if (step < steps_.size() && !inside(step, allocations_.born[id]))
        backward_begin_[step] = std::min<std::size_t>(backward_begin_[step], allocations_.born[id]);
    }
  }

  [[nodiscard]] bool in_backward_thread(AllocationId id) {
    const FrameFacts& f = facts(id);
    return f.autograd || (stacks_are_recorded_ && !f.any_python);
  }

  // The first step that ends after an event.
  [[nodiscard]] std::size_t step_after(std::size_t event) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(steps_, event, {}, &Window::end) - steps_.begin());
  }
  [[nodiscard]] bool inside(std::size_t step, std::size_t event) const {
    return event >= steps_[step].begin && event < steps_[step].end;
  }

  void set(AllocationId id, Category category, AttributedBy by, std::string_view kind = {}) {
    labels_.of[id] = {category, by, kind.empty() ? 0 : labels_.strings.intern(kind), 0, 0, 0};
  }

  void label_by_life(AllocationId id) {
    const FrameFacts& f = facts(id);
    const bool dies = allocations_.freed[id] != Allocations::never;
    if (f.workspace) return set(id, Category::workspaces, AttributedBy::frames);
    if (allocations_.requested[id] == cublas_workspace_bytes && !dies)
      return set(id, Category::workspaces, AttributedBy::size);
    if (allocations_.older(id)) return label_older(id);
    if (steps_.empty()) return;
    if (f.distributed) return set(id, Category::communication, AttributedBy::frames);
    const std::size_t born = allocations_.born[id], step = step_after(born);
    if (step == steps_.size()) return;  // after the last step: not seen to its end
    const std::size_t freed = dies ? allocations_.freed[id] : std::numeric_limits<std::size_t>::max();
    const Window& window = steps_[step];
    if (inside(step, born)) return label_in_step(id, freed, window);
    const std::size_t backward = backward_begin_[step];
    if (backward == Allocations::never) return;
    if (born >= backward) return label_in_backward(id, freed, window);
    if (freed < backward) return label_temporary(id);
    if (freed < window.begin && !f.module_setup)
      set(id, Category::activations, AttributedBy::lifetime, "saved for backward");
  }

  // In a model with convolutions or recurrent nets, what is freed by the very next event may be the library's scratch.
  void label_temporary(AllocationId id) {
    if (uses_cudnn_ && allocations_.freed[id] == allocations_.born[id] + 1) return;
    set(id, Category::temporaries, AttributedBy::lifetime);
  }

  // What an optimizer step frees although it did not allocate it is a state that it replaces.
  void label_older(AllocationId id) {
    if (allocations_.freed[id] == Allocations::never) return;
    const std::size_t step = step_after(allocations_.freed[id]);
    if (step < steps_.size() && inside(step, allocations_.freed[id]))
      set(id, Category::optimizer_state, AttributedBy::lifetime);
  }

  void label_in_step(AllocationId id, std::size_t freed, const Window& window) {
    const auto by = annotated_ ? AttributedBy::annotation : AttributedBy::frames;
    if (freed < window.end) return set(id, Category::temporaries, by);
    set(id, Category::optimizer_state, by);
  }

  void label_in_backward(AllocationId id, std::size_t freed, const Window& window) {
    if (!in_backward_thread(id)) return;  // Python code in a backward pass: recomputed, or the script's own
    if (freed < window.begin) return label_temporary(id);
    set(id, Category::gradients, AttributedBy::lifetime);
    ++gradients_[allocations_.requested[id]];
  }

  // Parameters: built or moved by a module and never freed; or as many survivors of a size, older than the first
  // backward pass, as one step has gradients of it.
  void label_parameters() {
    if (steps_.empty()) return;
    for (auto& [size, count] : gradients_) count = count / std::max<std::size_t>(1, backward_count());
    std::unordered_map<std::uint64_t, std::vector<AllocationId>> survivors;
    const std::size_t border = first_backward();
    for (AllocationId id = 0; id < allocations_.count(); ++id) {
      if (labels_.of[id].by != AttributedBy::nothing || allocations_.freed[id] != Allocations::never) continue;
      if (!allocations_.older(id) && allocations_.born[id] >= border) continue;
      if (!allocations_.older(id) && facts(id).module_setup) {
        set(id, Category::parameters, AttributedBy::frames);
      } else {
        survivors[allocations_.requested[id]].push_back(id);
      }
    }
    for (const auto& [size, ids] : survivors) {
      const auto found = gradients_.find(size);
      if (found == gradients_.end() || found->second != ids.size()) continue;
      for (const AllocationId id : ids) set(id, Category::parameters, AttributedBy::size);
    }
  }

  [[nodiscard]] std::size_t backward_count() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(backward_begin_, [](std::size_t begin) { return begin != Allocations::never; }));
  }
  [[nodiscard]] std::size_t first_backward() const {
    return backward_begin_.empty() ? 0 : *std::ranges::min_element(backward_begin_);
  }

  const timeline::Timeline& timeline_;
  const timeline::Events& events_;
  const Allocations& allocations_;
  const BareEvidence& evidence_;
  Labels labels_;
  std::vector<Window> steps_;
  std::vector<std::size_t> backward_begin_;  ///< by step; Allocations::never when none was seen
  std::unordered_map<timeline::StackId, FrameFacts> facts_;
  std::unordered_map<std::uint64_t, std::size_t> gradients_;  ///< requested size -> how many, over all steps
  bool annotated_ = false;
  bool stacks_are_recorded_ = false;
  bool uses_cudnn_ = false;
};

}  // namespace

Labels label_bare(const BareEvidence& evidence) {
  return BareLabeler(evidence).run();
}

}  // namespace ullage::attribution
