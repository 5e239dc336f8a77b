// SPDX-License-Identifier: Apache-2.0
#include "lowering/checkpoint.hpp"

namespace ullage::lowering {
namespace {

/// Sets a value until the end of a block.
template <class T>
class Until {
 public:
  Until(T& place, T value) : place_(place), before_(std::exchange(place, value)) {}
  ~Until() { place_ = before_; }
  Until(const Until&) = delete;
  Until& operator=(const Until&) = delete;

 private:
  T& place_;
  T before_;
};

}  // namespace

Saved CheckpointFrame::drop() {
  return Saved(Ref<CheckpointFrame>(this), dropped++);
}

Tensor Saved::get(Context& context) const {
  return frame_ ? frame_->take(context, index_) : tensor_;
}

void CheckpointFrame::keep(Tensor tensor) {
  kept.push_back(std::move(tensor));
  if (kept.size() == dropped) throw EnoughRecomputed{};
}

Tensor CheckpointFrame::take(Context& context, std::size_t index) {
  if (!is_recomputed) {
    is_recomputed = true;
    const GradientMode mode(context, true);
    const AutocastMode cast(context, autocast);
    const Until<CheckpointFrame*> recomputing(context.recomputing, this);
    const Until<CheckpointFrame*> saving(context.saving, nullptr);
    const Until<program::ModuleId> under(context.tape.module, module);
    const Until<bool> marked(context.tape.recomputing, true);
    try {
      (void)run(context);
    } catch (const EnoughRecomputed&) {
    }
  }
  return std::exchange(kept[index], Tensor());
}

Tensor checkpointed(Context& context, const Tensor& input, std::function<Tensor(Context&, const Tensor&)> region) {
  Ref<CheckpointFrame> frame(new CheckpointFrame);
  context.tape.is(input->storage->id, program::Role::activation);
  frame->module = context.tape.module;
  frame->autocast = context.autocast.on;
  frame->run = [input, region](Context& again) { return region(again, input); };
  const Until<CheckpointFrame*> saving(context.saving, frame.get());
  return region(context, input);
}

}  // namespace ullage::lowering
