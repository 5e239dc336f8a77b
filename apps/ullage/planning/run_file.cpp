// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/run_file.hpp"

#include "apps/ullage/planning/training_arguments.hpp"
#include "base/text.hpp"
#include "ingest/file/source.hpp"
#include "ingest/run_file/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ullage::cli {
namespace {

using ingest::Setting;

Result<std::vector<Setting>> settings_of(const std::string& path) {
  auto source = ingest::Source::open(path);
  if (!source) return tl::unexpected(source.error());
  const std::string text(source->head(ingest::most_run_file_bytes + 1));
  if (source->damage()) return tl::unexpected(*source->damage());
  return ingest::read_run_file(text, path);
}

const Flag* flag_of(const Shape& shape, std::string name) {
  std::ranges::replace(name, '_', '-');
  const auto found = std::ranges::find(shape.flags, name, &Flag::name);
  return found == shape.flags.end() || name == "run-file" ? nullptr : &*found;
}

tl::unexpected<Error> unknown(const Shape& shape, const Setting& setting, const std::string& path) {
  std::vector<std::string_view> names{"model"};
  for (const Flag& flag : shape.flags) names.push_back(flag.name);
  return fail(ErrorKind::bad_input, fmt::format("'{}' is no setting of a plan", printable(setting.key, false)),
              fmt::format("{}, line {}", path, setting.line), "model, or a flag of 'ullage plan' without its dashes",
              suggestion(setting.key, names));
}

/// On the command line one of these takes the place of the other.
constexpr std::pair<std::string_view, std::string_view> rivals[] = {
    {"global-batch", "accumulate"}, {"accumulate", "global-batch"}, {"params", "model"}, {"family", "model"}};

bool decided(const Arguments& arguments, std::string_view name) {
  if (arguments.given(name) || arguments.text("fit") == name) return true;
  if (!arguments.positionals.empty() && (name == "model" || name == "params" || name == "family")) return true;
  return std::ranges::any_of(rivals,
                             [&](const auto& pair) { return pair.second == name && arguments.given(pair.first); });
}

/// A setting as words of the command line.
Result<std::vector<std::string>> words_of(const Flag& flag, const Setting& setting, const std::string& path) {
  const std::string name = "--" + std::string(flag.name);
  const auto wrong = [&](std::string what, std::string expected) {
    return fail(ErrorKind::bad_input, fmt::format("{}: {}", setting.key, std::move(what)),
                fmt::format("{}, line {}", path, setting.line), std::move(expected));
  };
  if (setting.nested) return wrong("a map, or a list of more than plain values", "a value, or a list of values");
  std::vector<std::string> words;
  if (flag.kind == FlagKind::toggle) {
    if (setting.values == std::vector<std::string>{"true"}) words.push_back(name);
    if (setting.values.size() != 1 || (setting.values.front() != "true" && setting.values.front() != "false"))
      return wrong("not a switch", "true or false");
  } else if (flag.name == "freeze") {
    for (const std::string& value : setting.values) words.push_back(name + "=" + value);
  } else if (!setting.values.empty()) {
    words.push_back(name + "=" + join(setting.values, ","));
  }
  return words;
}

/// What was on the command line, as words again.
std::vector<std::string> words_of(const Shape& shape, const Arguments& arguments) {
  std::vector<std::string> words = arguments.positionals;
  for (const auto& [name, value] : arguments.in_order())
    words.push_back(flag_of(shape, name) != nullptr && flag_of(shape, name)->kind == FlagKind::toggle
                        ? "--" + name
                        : fmt::format("--{}={}", name, value));
  return words;
}

}  // namespace

Result<Combined> with_run_file(const Shape& shape, const Arguments& arguments) {
  const auto path = arguments.text("run-file");
  if (!path) return Combined{arguments, {}};
  auto settings = settings_of(*path);
  if (!settings) return tl::unexpected(settings.error());
  RunFileUse use{*path, is_training_arguments(*settings), {}, {}};
  if (use.training_arguments) {
    auto translated = from_training_arguments(*settings, use);
    if (!translated) return tl::unexpected(translated.error());
    settings = std::move(*translated);
  }
  std::vector<std::string> words = words_of(shape, arguments);
  for (const Setting& setting : *settings) {
    if (setting.key == "model") {
      if (!decided(arguments, "model") && setting.values.size() == 1) words.push_back(setting.values.front());
      continue;
    }
    const Flag* flag = flag_of(shape, setting.key);
    if (flag == nullptr) return unknown(shape, setting, *path);
    if (decided(arguments, flag->name)) continue;
    const auto more = words_of(*flag, setting, *path);
    if (!more) return tl::unexpected(more.error());
    words.insert(words.end(), more->begin(), more->end());
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  return parse_arguments(shape, views).map([&](Arguments parsed) { return Combined{std::move(parsed), use}; });
}

}  // namespace ullage::cli
