// SPDX-License-Identifier: Apache-2.0
#include "base/secrets.hpp"

#include "base/text.hpp"

namespace ullage {
namespace {

constexpr std::string_view mask = "***";

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// A word ends here: at the end, or before a separator.
bool word_ends_with(std::string_view name, std::string_view ending) {
  for (std::size_t at = name.find(ending); at != name.npos; at = name.find(ending, at + 1)) {
    const std::size_t end = at + ending.size();
    if (end == name.size() || !is_word(name[end])) return true;
  }
  return false;
}

/// Letters, digits and what separates words of an option's name.
bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.+/") == text.npos;
}

/// "--token" of "--token=VALUE"; empty when there is no value in it.
std::string_view name_before_value(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  return equals == argument.npos ? std::string_view() : argument.substr(0, equals);
}

}  // namespace

bool names_a_secret(std::string_view name) {
  const std::string text = lower(name);
  if (!is_name(text)) return false;
  for (const std::string_view part : {"secret", "passw", "credential"})
    if (text.find(part) != text.npos) return true;
  return word_ends_with(text, "token") || word_ends_with(text, "key");
}

std::vector<std::string> without_secrets(std::vector<std::string> command) {
  bool value_follows = false;
  for (auto& word : command) {
    const bool option = word.starts_with('-');
    const std::string_view name = name_before_value(word);
    if (value_follows && !word.starts_with("--"))
      word = mask;
    else if (!name.empty() && names_a_secret(name))
      word = std::string(name) + "=" + std::string(mask);
    value_follows = option && name.empty() && names_a_secret(word);
  }
  return command;
}

}  // namespace ullage
