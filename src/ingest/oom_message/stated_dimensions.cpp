// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/stated_dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace ullage::ingest {
namespace {

constexpr std::size_t longest_key = 32;

bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// `--Seq-Length` is seq_length.
std::string normal(std::string_view name) {
  std::string text(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  for (char& c : text) c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// What stands between a key and its value: quotes, spaces, and `:`, `=` or Megatron's dots; a flag needs only a space.
std::string_view after_separator(std::string_view rest, bool flag) {
  const auto end = rest.find_first_not_of("\"' :=.\t");
  if (end == rest.npos) return {};
  const std::string_view between = rest.substr(0, end);
  const bool separated = between.find_first_of(":=") != between.npos || between.find("..") != between.npos;
  return separated || (flag && !between.empty()) ? rest.substr(end) : std::string_view{};
}

// A whole number, true or false; nothing for 1.5, 4k, 2e9, 1024x.
std::optional<std::uint64_t> value_of(std::string_view text) {
  const std::string_view word = text.substr(0, std::min(text.find_first_of(",;)}] \t\r\n\"'"), text.size()));
  if (word == "true" || word == "True" || word == "silu" || word == "swiglu") return 1;
  if (word == "false" || word == "False") return 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

}  // namespace

const StatedDimensions::Key StatedDimensions::keys[] = {
    {"batch_size", micro_batch_size},
    {"block_size", sequence_length},
    {"context_length", sequence_length},
    {"d_ff", intermediate},
    {"d_kv", head},
    {"d_model", hidden},
    {"ffn_dim", intermediate},
    {"ffn_hidden_size", intermediate},
    {"head_dim", head},
    {"hidden_act", gated},
    {"hidden_size", hidden},
    {"intermediate_size", intermediate},
    {"max_seq_len", sequence_length},
    {"max_seq_length", sequence_length},
    {"micro_batch_size", micro_batch_size},
    {"n_embd", hidden},
    {"n_head", heads},
    {"n_heads", heads},
    {"n_inner", intermediate},
    {"n_kv_heads", kv_heads},
    {"n_layer", layers},
    {"n_layers", layers},
    {"num_attention_heads", heads},
    {"num_heads", heads},
    {"num_hidden_layers", layers},
    {"num_key_value_heads", kv_heads},
    {"num_kv_heads", kv_heads},
    {"num_layers", layers},
    {"num_query_groups", kv_heads},
    {"padded_vocab_size", vocabulary},
    {"per_device_train_batch_size", micro_batch_size},
    {"seq_len", sequence_length},
    {"seq_length", sequence_length},
    {"sequence_length", sequence_length},
    {"swiglu", gated},
    {"tie_word_embeddings", tied},
    {"train_micro_batch_size_per_gpu", micro_batch_size},
    {"vocab_size", vocabulary},
};

const StatedDimensions::Key* StatedDimensions::find(std::string_view name) {
  const auto* at = std::ranges::lower_bound(keys, name, {}, &Key::name);
  return at != std::end(keys) && at->name == name ? at : nullptr;
}

void StatedDimensions::read(std::string_view text, std::uint64_t line) {
  for (std::size_t at = 0; at < text.size();) {
    if (!in_name(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    const std::string_view name = text.substr(at, end - at);
    at = end;
    if (name.size() < 4 || name.size() > longest_key) continue;
    const Key* key = find(normal(name));
    if (key == nullptr) continue;
    if (const auto value = value_of(after_separator(text.substr(end), name.starts_with("--"))))
      take(key->dimension, name, *value, line);
  }
}

void StatedDimensions::take(Dimension dimension, std::string_view key, std::uint64_t value, std::uint64_t line) {
  Found& found = found_[dimension];
  if (!found.first)
    found.first = {std::string(key), value, line};
  else if (!found.other && found.first->value != value)
    found.other = {std::string(key), value, line};
}

const StatedNumber* StatedDimensions::get(Dimension dimension, std::uint64_t before_line) const {
  const Found& found = found_[dimension];
  if (!found.first || found.first->line >= before_line) return nullptr;
  return found.other && found.other->line < before_line ? nullptr : &*found.first;
}

std::uint64_t StatedDimensions::value(Dimension dimension, std::uint64_t before_line) const {
  const StatedNumber* number = get(dimension, before_line);
  return number != nullptr ? number->value : 0;
}

std::optional<ModelDimensions> StatedDimensions::model(std::uint64_t before_line) const {
  const auto of = [&](Dimension dimension) { return value(dimension, before_line); };
  if (of(hidden) == 0) return std::nullopt;
  ModelDimensions model{of(hidden),     of(heads),        of(kv_heads),   of(head),      of(layers),
                        of(vocabulary), of(intermediate), of(gated) == 1, of(gated) != 1};
  if (const StatedNumber* stated = get(tied, before_line)) model.tied = stated->value == 1;
  complete(model);
  return model;
}

std::optional<std::uint64_t> StatedDimensions::micro_batch(std::uint64_t before_line) const {
  const StatedNumber* number = get(micro_batch_size, before_line);
  return number != nullptr ? std::optional(number->value) : std::nullopt;
}

std::optional<std::uint64_t> StatedDimensions::sequence(std::uint64_t before_line) const {
  const StatedNumber* number = get(sequence_length, before_line);
  return number != nullptr ? std::optional(number->value) : std::nullopt;
}

std::vector<StatedNumber> StatedDimensions::used(std::uint64_t before_line) const {
  std::vector<StatedNumber> numbers;
  for (std::size_t i = 0; i < count; ++i)
    if (const StatedNumber* number = get(static_cast<Dimension>(i), before_line)) numbers.push_back(*number);
  std::ranges::stable_sort(numbers, {}, &StatedNumber::line);
  return numbers;
}

std::vector<std::string> StatedDimensions::contradictory(std::uint64_t before_line) const {
  std::vector<std::string> texts;
  for (const Found& found : found_) {
    if (found.other && found.other->line < before_line)
      texts.push_back(fmt::format("{} {} (line {}) and {} {} (line {})", found.first->key, found.first->value,
                                  found.first->line, found.other->key, found.other->value, found.other->line));
  }
  return texts;
}

}  // namespace ullage::ingest
