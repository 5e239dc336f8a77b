// SPDX-License-Identifier: Apache-2.0
#include "findings/first_change.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "findings/attention.hpp"
#include "ledger/texts.hpp"

namespace ullage::findings {
namespace {

using attribution::Category;
using attribution::Label;
using timeline::AllocationId;

// `transformer.h.12.attn.c_attn` -> `transformer.h` and 12; nothing where no part is a number.
struct Layer {
  std::string prefix;
  std::string number;
};
std::optional<Layer> layer_of(std::string_view module) {
  const std::string_view layer = ledger::numbered_layer(module);
  if (layer.empty()) return std::nullopt;
  const std::size_t dot = layer.rfind('.');
  return Layer{std::string(layer.substr(0, dot)), std::string(layer.substr(dot + 1))};
}

struct LayerSum {
  std::uint64_t bytes = 0;
  std::uint64_t last = 0;  ///< of the youngest tensor
};

class Rules {
 public:
  explicit Rules(const ledger::Cut& cut) : cut_(cut) {
    const auto& allocations = *cut.allocations;
    for (AllocationId id = 0; id < allocations.count(); ++id) {
      if (!allocations.live_at(id, cut.events)) continue;
      live_.push_back(id);
      allocated_ += allocations.size[id];
    }
  }

  std::vector<Change> run() {
    attention();
    checkpointing();
    optimizer();
    micro_batch();
    std::erase_if(out_, [](const Change& change) { return change.saves == 0; });
    std::ranges::stable_sort(out_, std::ranges::greater(), &Change::saves);
    const auto free_of_cost = [&](const Change& c) { return c.id == "fused_attention" && c.saves >= allocated_ / 20; };
    std::stable_partition(out_.begin(), out_.end(), free_of_cost);
    return std::move(out_);
  }

 private:
  [[nodiscard]] const Label& label(AllocationId id) const { return cut_.labels->of[id]; }
  [[nodiscard]] std::string_view text(timeline::StringId id) const { return cut_.labels->strings.text(id); }
  [[nodiscard]] std::uint64_t bytes(AllocationId id) const { return cut_.allocations->requested[id]; }
  [[nodiscard]] bool activation(AllocationId id) const { return label(id).category == Category::activations; }

  void attention() {
    const AttentionMatrices found = attention_matrices(cut_);
    std::uint64_t sum = 0;
    for (const AllocationId id : found.allocations) sum += bytes(id);
    out_.push_back({"fused_attention",
                    "fused attention (attn_implementation=\"sdpa\", torch.nn.functional.scaled_dot_product_attention)",
                    "the attention matrices that softmax, masks and dropout keep" +
                        (found.modules > 0 ? " in " + std::to_string(found.modules) + " layers" : std::string()),
                    sum});
  }

  void checkpointing() {
    std::map<std::string, std::map<std::string, LayerSum>> groups;
    for (const AllocationId id : live_) {
      if (!activation(id) || label(id).by == attribution::AttributedBy::nothing) continue;
      const auto layer = layer_of(text(label(id).module));
      if (!layer) continue;
      LayerSum& sum = groups[layer->prefix][layer->number];
      sum.bytes += bytes(id), sum.last = bytes(id);  // ids rise with birth
    }
    for (const auto& [prefix, layers] : groups) {
      std::uint64_t total = 0, largest = 0, boundaries = 0;
      for (const auto& [number, sum] : layers) {
        total += sum.bytes, boundaries += sum.last;
        largest = std::max(largest, sum.bytes);
      }
      if (layers.size() < 2 || total <= largest + boundaries) continue;
      out_.push_back(
          {"checkpointing",
           "activation checkpointing of " + prefix + ".* (gradient_checkpointing_enable, torch.utils.checkpoint)",
           "the saved activations of " + std::to_string(layers.size()) +
               " layers, less one layer's and their boundaries",
           total - largest - boundaries});
    }
  }

  void optimizer() {
    std::uint64_t moments = 0;
    for (const AllocationId id : live_) {
      const std::string_view kind = text(label(id).kind);
      if (label(id).category == Category::optimizer_state && (kind == "exp_avg" || kind == "exp_avg_sq"))
        moments += bytes(id);
    }
    out_.push_back({"optimizer_8bit", "an optimizer with 8-bit state (bitsandbytes, torchao)",
                    "three quarters of exp_avg and exp_avg_sq, less the scales; if they are in 32 bits",
                    moments / 4 * 3 - moments / 256});
  }

  void micro_batch() {
    std::uint64_t sum = 0;
    for (const AllocationId id : live_) {
      if (activation(id) || label(id).category == Category::inputs) sum += bytes(id);
    }
    out_.push_back({"half_micro_batch", "half the micro batch with twice the accumulation steps",
                    "half of the activations and inputs, as far as they grow with it", sum / 2});
  }

  const ledger::Cut& cut_;
  std::vector<AllocationId> live_;
  std::uint64_t allocated_ = 0;
  std::vector<Change> out_;
};

}  // namespace

std::vector<Change> changes_at(const ledger::Cut& cut) {
  return Rules(cut).run();
}

}  // namespace ullage::findings
