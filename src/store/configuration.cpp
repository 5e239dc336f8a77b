// SPDX-License-Identifier: Apache-2.0
#include "store/configuration.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace ullage::store {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool is_python(std::string_view program) {
  const std::string_view name = file_name(program);
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == name.npos;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool looks_like_flag(std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && !number_in(word);
}

/// `key=value` without dashes, as configuration libraries take it; not a path or a text that happens to hold a '='.
std::size_t assignment(std::string_view word) {
  const auto cut = word.find('=');
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+~@/";
  if (cut == word.npos || cut == 0) return word.npos;
  return word.substr(0, cut).find_first_not_of(plain) == word.npos ? cut : word.npos;
}

/// Collects settings in the order of their first mention.
class Collector {
 public:
  void add(std::string key, std::string text, bool toggle = false) {
    const auto known = std::ranges::find(settings_, key, &Setting::key);
    if (known != settings_.end()) {
      *known = setting(SettingGroup::script, key, known->text + "," + text);
      return;
    }
    settings_.push_back(setting(SettingGroup::script, std::move(key), std::move(text)));
    if (toggle) settings_.back().type = SettingType::toggle;
  }
  std::vector<Setting> take() { return std::move(settings_); }

 private:
  std::vector<Setting> settings_;
};

std::optional<std::size_t> script_position(std::span<const std::string> command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].size() > 3 && command[i].ends_with(".py")) return i;
    const bool after_python = i > 0 && is_python(command[i - 1]);
    if (after_python && (command[i] == "-m" || command[i] == "-c") && i + 1 < command.size()) return i + 1;
  }
  return std::nullopt;
}

/// `ullage record --out DIR -- ...` in front of a script runs it as it is: how it is recorded is no choice of the
/// script.
std::vector<std::string> without_own_words(std::span<const std::string> command) {
  std::vector<std::string> words(command.begin(), command.end());
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (file_name(words[i]) != "ullage" || (words[i + 1] != "record" && words[i + 1] != "rehearse")) continue;
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i), end = std::find(begin, words.end(), "--");
    if (end == words.end() || script_position(std::span(words).first(i))) break;
    words.erase(begin, end + 1);
    --i;  // what follows may be one more
  }
  return words;
}

}  // namespace

const char* name_of(SettingGroup group) {
  constexpr const char* names[] = {"script", "launcher", "environment", "device", "inputs", "stack", "code"};
  return names[static_cast<std::size_t>(group)];
}

const char* name_of(SettingType type) {
  constexpr const char* names[] = {"switch", "integer", "real", "text"};
  return names[static_cast<std::size_t>(type)];
}

Setting setting(SettingGroup group, std::string key, std::string text) {
  Setting made{group, std::move(key), std::move(text), SettingType::text, {}};
  made.number = number_in(made.text);
  if (made.number) made.type = is_whole(made.text) ? SettingType::integer : SettingType::real;
  return made;
}

CommandParts command_parts(std::span<const std::string> whole) {
  CommandParts parts;
  const std::vector<std::string> command = without_own_words(whole);
  if (command.empty()) return parts;
  const std::size_t at = script_position(command).value_or(0);
  const bool text = at > 0 && command[at - 1] == "-c";
  parts.script = text ? "-c" : command[at];
  std::vector<std::string> before(command.begin(), command.begin() + static_cast<std::ptrdiff_t>(at));
  if (!before.empty() && (before.back() == "-m" || before.back() == "-c")) before.pop_back();
  if (!before.empty() && is_python(before.front())) before.erase(before.begin());
  if (!before.empty()) before.front() = std::string(file_name(before.front()));
  parts.launcher = join(before, " ");
  parts.arguments.assign(command.begin() + static_cast<std::ptrdiff_t>(at) + 1, command.end());
  if (text) parts.arguments.insert(parts.arguments.begin(), "text " + hash_of(command[at]));
  return parts;
}

std::vector<Setting> settings_of_arguments(std::span<const std::string> arguments) {
  Collector collected;
  unsigned positionals = 0;
  while (!arguments.empty()) {
    const std::string word = arguments.front();
    arguments = arguments.subspan(1);
    const auto cut = looks_like_flag(word) ? word.find('=') : assignment(word);
    if (cut != word.npos) {
      collected.add(word.substr(0, cut), word.substr(cut + 1));
    } else if (!looks_like_flag(word)) {
      collected.add(fmt::format("argument {}", ++positionals), word);
    } else if (arguments.empty() || looks_like_flag(arguments.front())) {
      collected.add(word, "true", true);
    } else {
      collected.add(word, arguments.front());
      arguments = arguments.subspan(1);
    }
  }
  return collected.take();
}

std::vector<SettingDifference> differences(std::span<const Setting> before, std::span<const Setting> after) {
  std::map<std::tuple<SettingGroup, std::string>, SettingDifference> all;
  const auto entry = [&all](const Setting& one) -> SettingDifference& {
    return all.try_emplace({one.group, one.key}, SettingDifference{one.group, one.key, {}, {}}).first->second;
  };
  for (const Setting& one : before) entry(one).before = one.text;
  for (const Setting& one : after) entry(one).after = one.text;
  std::vector<SettingDifference> found;
  for (auto& [key, difference] : all)
    if (difference.before != difference.after) found.push_back(std::move(difference));
  return found;
}

bool is_chosen(SettingGroup group) {
  return group <= SettingGroup::device;
}

std::string configuration_hash(const std::string& script, std::span<const Setting> settings) {
  std::vector<std::string> chosen;
  for (const Setting& one : settings)
    if (is_chosen(one.group)) chosen.push_back(fmt::format("{}\n{}\n{}", name_of(one.group), one.key, one.text));
  std::ranges::sort(chosen);
  return hash_of(fmt::format("{}\n{}", file_name(script), join(chosen, "\n")));
}

std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  for (const std::uint64_t factor : {0xff51afd7ed558ccdULL, 0xc4ceb9fe1a85ec53ULL}) hash = (hash ^ hash >> 33) * factor;
  return fmt::format("{:016x}", hash ^ hash >> 33);
}

}  // namespace ullage::store
