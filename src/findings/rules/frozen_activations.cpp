// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "attribution/places.hpp"
#include "base/bytes.hpp"
#include "findings/lines.hpp"
#include "findings/rules/all.hpp"
#include "ledger/texts.hpp"

namespace ullage::findings {

namespace {

using ledger::TensorClass;

/// The numbered layer; where there is none, the first part of the name.
std::string_view block_of(std::string_view module) {
  const std::string_view layer = ledger::numbered_layer(module);
  return layer.empty() ? module.substr(0, module.find('.')) : layer;
}

struct Block {
  std::uint64_t frozen = 0, trained = 0;  ///< bytes of parameters
};
using Blocks = std::map<std::string_view, Block>;

Blocks blocks_of(const Subject& subject) {
  Blocks blocks;
  for (const auto* parameter : subject.tensors(TensorClass::parameter)) {
    const std::string_view name = parameter->name;
    Block& block = blocks[block_of(name.substr(0, std::min(name.rfind('.'), name.size())))];
    (parameter->frozen ? block.frozen : block.trained) += parameter->bytes;
  }
  return blocks;
}

/// The blocks in the order in which they first ran.
std::vector<std::string_view> order_of(const Subject& subject, const Blocks& blocks) {
  const auto& trace = *subject.facts().run.trace;
  std::vector<std::string_view> order;
  std::set<std::string_view> seen;
  for (timeline::CallId call = 0; call < trace.calls.count(); ++call) {
    if (trace.calls.kind[call] != timeline::CallKind::module) continue;
    const std::string_view block = block_of(attribution::dotted_name(trace.strings.text(trace.calls.name[call])));
    if (blocks.contains(block) && seen.insert(block).second) order.push_back(block);
  }
  return order;
}

struct Frozen {
  std::set<std::string_view> blocks;     ///< that have nothing to train
  std::uint64_t parameter_bytes = 0;     ///< theirs
  std::vector<std::string_view> before;  ///< trained ones that ran before the first of them
  std::uint64_t before_bytes = 0;
};

Frozen frozen_in(const Blocks& blocks, const std::vector<std::string_view>& order) {
  Frozen result;
  for (const std::string_view name : order) {
    const Block& block = blocks.at(name);
    if (block.trained == 0 && block.frozen > 0)
      result.blocks.insert(name), result.parameter_bytes += block.frozen;
    else if (block.trained > 0 && result.blocks.empty())
      result.before.push_back(name), result.before_bytes += block.trained;
  }
  return result;
}

std::vector<Finding> find_frozen_activations(const Rule& rule, const Subject& subject) {
  if (subject.facts().run.trace == nullptr) return {};
  const Blocks blocks = blocks_of(subject);
  const Frozen frozen = frozen_in(blocks, order_of(subject, blocks));
  // Trained layers before them need their gradients to pass; a small thing before them can be frozen or moved.
  if (frozen.blocks.empty() || frozen.before.size() > 2 || frozen.before_bytes > frozen.parameter_bytes) return {};
  std::vector<AllocationId> saved;
  for (const AllocationId id : subject.live()) {
    if (subject.category(id) == Category::activations && frozen.blocks.contains(block_of(subject.module(id))))
      saved.push_back(id);
  }
  if (sum_of(subject, saved) < subject.worth()) return {};
  Finding finding =
      finding_of(rule, sum_of(subject, saved), std::to_string(frozen.blocks.size()) + " frozen blocks save activations",
                 main_line(subject, saved, LineKind::module_call));
  finding.evidence = parts_of(subject, saved, 2);
  if (frozen.before.empty())
    finding.evidence.emplace_back("nothing before them is trained: their input itself requires a gradient");
  for (const std::string_view name : frozen.before)
    finding.evidence.push_back("before them " + std::string(name) + " is trained, " +
                               format_bytes(blocks.at(name).trained) + " of parameters");
  return {finding};
}

}  // namespace

const Rule frozen_activations{
    "frozen_activations",
    FindingLevel::opportunity,
    "frozen layers save activations",
    "Layers none of whose parameters requires a gradient save tensors for backward, because something before them "
    "requires "
    "one: an input (requires_grad_, enable_input_require_grads), or at most two blocks with fewer parameters than the "
    "frozen layers have. Adapters inside the layers are no such case. Needs the record of operators.",
    "for p in model.layers.parameters(): p.requires_grad_(False)     # but the embedding before them is trained",
    "freeze what comes before them too, or run them under torch.no_grad(); else checkpoint them",
    find_frozen_activations};

}  // namespace ullage::findings
