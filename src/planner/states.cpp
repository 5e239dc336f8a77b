// SPDX-License-Identifier: Apache-2.0
#include "planner/states.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "planner/buckets.hpp"
#include "planner/frozen.hpp"

#include <fmt/format.h>

#include <utility>

namespace ullage::planner {
namespace {

using ledger::KnownBy;
using ledger::Line;
using setup::Extent;
using setup::StateRule;

/// `bytes` for each of `count` things.
struct Product {
  std::uint64_t bytes = 0, count = 0;
};

/// Elements of the parameters that are trained, and entries of each rule of the optimizer.
struct Counts {
  std::uint64_t trained = 0, frozen = 0;
  std::vector<std::uint64_t> entries;  ///< by rule
};

/// A part of the states, and the ZeRO stage from which ranks share it.
enum class Part : unsigned { optimizer = 1, gradients = 2, weights = 3, buffers = 4 };

bool shared(const Training& training, Part part) {
  return training.ranks > 1 && training.zero >= static_cast<unsigned>(part);
}

/// Derived where the rules were compared with executed runs: plain PyTorch, one rank.
KnownBy known_by(const Training& training, Part part) {
  const bool executed = training.precision->framework == setup::Framework::pytorch;
  return executed && !shared(training, part) ? KnownBy::derived : KnownBy::estimated;
}

/// Builds the lines of one rank with their formulas.
class Lines {
 public:
  Lines(const Training& training, States& states) : training_(training), states_(states) {}

  /// A line that is a sum of products, or one rank's share of it.
  Line leaf(std::string id, std::string name, const std::vector<Product>& products, Part part, std::string appears) {
    std::uint64_t bytes = 0;
    std::string text;
    for (const auto& [width, count] : products) {
      bytes += width * count;
      text += fmt::format("{}{} B x {}", text.empty() ? "" : " + ", width, grouped(count));
    }
    if (shared(training_, part)) {
      bytes = bytes / training_.ranks + (bytes % training_.ranks != 0 ? 1 : 0);
      text = fmt::format("{}{}{} / {} ranks", products.size() > 1 ? "(" : "", text, products.size() > 1 ? ")" : "",
                         training_.ranks);
    }
    states_.formulas.push_back({id, fmt::format("{} = {}", text, format_bytes(bytes)), std::move(appears)});
    return {std::move(id), std::move(name), bytes, known_by(training_, part), {}, {}, 0};
  }

 private:
  const Training& training_;
  States& states_;
};

void count_parameter(const model::Parameter& parameter, bool frozen, std::span<const StateRule> rules, Counts& counts) {
  if (!parameter.tied_to.empty()) return;
  (frozen ? counts.frozen : counts.trained) += parameter.elements;
  if (frozen) return;
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (setup::applies(rules[i].applies, parameter.shape.size(), parameter.elements))
      counts.entries[i] += rules[i].extent == Extent::once
                               ? (counts.entries[i] == 0 ? setup::entries_once : 0)
                               : setup::entries(rules[i].extent, parameter.shape, parameter.elements);
}

Result<Counts> count(const model::Model& model, const Training& training) {
  const auto frozen = frozen_parameters(model, training.freeze);
  if (!frozen) return tl::unexpected(frozen.error());
  const std::span<const StateRule> rules =
      training.optimizer != nullptr ? training.optimizer->states : std::span<const StateRule>{};
  Counts counts;
  counts.entries.resize(rules.size());
  std::size_t number = 0;
  model::for_each_parameter(model, [&](const auto&, std::uint64_t, const model::Parameter& parameter) {
    const bool is_frozen = !frozen->empty() && (*frozen)[number++];
    count_parameter(parameter, is_frozen, rules, counts);
  });
  if (training.optimizer != nullptr && counts.trained == 0)
    return fail(ErrorKind::usage, "nothing is trained", "every parameter is frozen", "at least one that is not");
  return counts;
}

std::string title_of(const model::Group& group) {
  return group.layers ? fmt::format("{}.* ({} layers)", group.name, group.repeat) : group.name;
}

Line weights_line(const model::Model& model, const Training& training, Lines& lines) {
  std::vector<Line> groups;
  for (const model::Group& group : model.groups)
    if (const std::uint64_t elements = model::parameter_count(group); elements > 0)
      groups.push_back(lines.leaf("parameters.weights." + group.name, title_of(group),
                                  {{training.precision->weights, elements}}, Part::weights, "load"));
  return ledger::sum_line("parameters.weights", "weights", known_by(training, Part::weights), std::move(groups));
}

Line parameters_line(const model::Model& model, const Training& training, Lines& lines) {
  std::vector<Line> children{weights_line(model, training, lines)};
  std::uint64_t fp32 = 0, as_weights = 0;
  for (const model::Buffer& buffer : model.buffers) (buffer.always_fp32 ? fp32 : as_weights) += buffer.elements;
  std::vector<Product> products;
  if (fp32 > 0) products.push_back({4, fp32});
  if (as_weights > 0) products.push_back({training.precision->weights, as_weights});
  if (!products.empty())
    children.push_back(lines.leaf("parameters.buffers", "buffers", products, Part::buffers, "load"));
  return ledger::sum_line("parameters", "parameters", known_by(training, Part::weights), std::move(children));
}

Line optimizer_line(const Training& training, const Counts& counts, Lines& lines) {
  constexpr const char* first_step = "first optimizer step";
  const setup::Precision& precision = *training.precision;
  std::vector<Line> children;
  if (precision.master > 0)
    children.push_back(lines.leaf("optimizer_state.master_weights", "fp32 master copy of the weights",
                                  {{precision.master, counts.trained}}, Part::optimizer, "load"));
  if (precision.gradient_copy > 0)
    children.push_back(lines.leaf("optimizer_state.gradient_copy", "fp32 copy of the gradients",
                                  {{precision.gradient_copy, counts.trained}}, Part::optimizer, first_step));
  const auto rules = training.optimizer->states;
  for (std::size_t i = 0; i < rules.size();) {
    std::vector<Product> products;
    const std::string state = std::string(rules[i].state);
    for (; i < rules.size() && rules[i].state == state; ++i)
      if (counts.entries[i] > 0)
        products.push_back({rules[i].bytes > 0 ? rules[i].bytes : precision.state, counts.entries[i]});
    if (!products.empty())
      children.push_back(lines.leaf("optimizer_state." + state, state, products, Part::optimizer, first_step));
  }
  return ledger::sum_line("optimizer_state", "optimizer state", known_by(training, Part::optimizer),
                          std::move(children));
}

Result<void> check(const model::Model& model, const Training& training) {
  if (training.optimizer == nullptr) return {};
  const std::string flag = "--optimizer " + std::string(training.optimizer->name);
  if (training.optimizer->needs_shapes && model.model_type.empty())
    return fail(ErrorKind::usage, "its state depends on the shapes of the parameters", flag,
                "a MODEL instead of --params");
  if (training.precision->has_master() && !training.optimizer->works_on_master)
    return fail(ErrorKind::usage, "not described with fp32 master copies",
                flag + " --precision " + std::string(training.precision->name), "adamw or sgd");
  return {};
}

}  // namespace

Result<States> states_of(const model::Model& model, const Training& training) {
  if (const auto checked = check(model, training); !checked) return tl::unexpected(checked.error());
  const auto counts = count(model, training);
  if (!counts) return tl::unexpected(counts.error());
  States states;
  states.trained = counts->trained, states.frozen = counts->frozen;
  Lines lines(training, states);
  states.lines.push_back(parameters_line(model, training, lines));
  if (training.optimizer != nullptr) {
    states.lines.push_back(lines.leaf("gradients", "gradients", {{training.precision->gradients, counts->trained}},
                                      Part::gradients, "first backward pass"));
    states.lines.push_back(optimizer_line(training, *counts, lines));
  }
  for (const Line& line : states.lines) states.bytes += line.bytes;
  if (auto buckets = buckets_of(model, training, states.trained)) states.formulas.push_back(std::move(*buckets));
  return states;
}

}  // namespace ullage::planner
