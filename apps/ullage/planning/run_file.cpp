// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/planning/run_file.hpp"

#include "apps/ullage/planning/training_arguments.hpp"
#include "base/text.hpp"
#include "ingest/file/source.hpp"
#include "ingest/run_file/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace ullage::cli {
namespace {

using ingest::Setting;

Result<std::vector<Setting>> settings_of(const std::string& path) {
  auto source = ingest::Source::open_once(path);
  if (!source) return tl::unexpected(source.error());
  const std::string text(source->head(ingest::most_run_file_bytes + 1));
  if (source->damage()) return tl::unexpected(*source->damage());
  return ingest::read_run_file(text, path);
}

std::string place_of(const Setting& setting, const std::string& path) {
  return setting.line > 0 ? fmt::format("{}, line {}", path, setting.line) : path;
}

tl::unexpected<Error> unknown(const Shape& shape, const Setting& setting, const std::string& path) {
  std::vector<std::string_view> names{"model"};
  for (const Flag& flag : shape.flags) names.push_back(flag.name);
  return fail(ErrorKind::bad_input, fmt::format("'{}' is no setting of a plan", printable(setting.key, false)),
              place_of(setting, path), "model, or a flag of 'ullage plan' without its dashes",
              suggestion(setting.key, names));
}

tl::unexpected<Error> twice(const Setting& setting, const std::string& path) {
  return fail(ErrorKind::bad_input, fmt::format("{}: the setting is there twice", setting.key), place_of(setting, path),
              "one of them; `-` and `_` are the same");
}

tl::unexpected<Error> one_model(const Setting& setting, const std::string& path) {
  return fail(ErrorKind::bad_input, "model: not a name", place_of(setting, path), "one model");
}

/// On the command line one of these takes the place of the other.
constexpr std::pair<std::string_view, std::string_view> rivals[] = {
    {"global-batch", "accumulate"}, {"accumulate", "global-batch"}, {"params", "model"}, {"family", "model"}};

bool decided(const Arguments& arguments, const Setting& setting, std::string_view name) {
  if (arguments.given(name) || arguments.text("fit") == name) return true;
  if (name == "fit" && setting.values.size() == 1 && arguments.given(setting.values.front())) return true;
  if (!arguments.positionals.empty() && (name == "model" || name == "params" || name == "family")) return true;
  return std::ranges::any_of(rivals,
                             [&](const auto& pair) { return pair.second == name && arguments.given(pair.first); });
}

/// A setting as words of the command line.
Result<std::vector<std::string>> words_of(const Flag& flag, const Setting& setting, const std::string& path) {
  const std::string name = "--" + std::string(flag.name);
  const auto wrong = [&](std::string what, std::string expected) {
    return fail(ErrorKind::bad_input, fmt::format("{}: {}", setting.key, std::move(what)), place_of(setting, path),
                std::move(expected));
  };
  if (setting.nested) return wrong("a map, or a list of more than plain values", "a value, or a list of values");
  std::vector<std::string> words;
  if (flag.kind == FlagKind::toggle) {
    const auto on = setting.values.size() == 1 ? ingest::truth_of(setting.values.front()) : std::nullopt;
    if (!on) return wrong("not a switch", "true or false");
    if (*on) words.push_back(name);
  } else if (flag.name == "freeze") {
    for (const std::string& value : setting.values) words.push_back(name + "=" + value);
  } else if (setting.values.empty()) {
    if (setting.is_list) return wrong("an empty list", "a value, or a list of values");
  } else {
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

const Flag* flag_of(const Shape& shape, std::string name) {
  std::ranges::replace(name, '_', '-');
  const auto found = std::ranges::find(shape.flags, name, &Flag::name);
  return found == shape.flags.end() || name == "run-file" ? nullptr : &*found;
}

Error placed(Error error, const std::map<std::string, std::string>& places) {
  const std::string words = error.where + " ";
  for (const auto& [flag, place] : places)
    if (words.find("--" + flag + " ") != words.npos) error.where += fmt::format(", --{} of {}", flag, place);
  return error;
}

Result<Combined> with_run_file(const Shape& shape, const Arguments& arguments) {
  const auto path = arguments.text("run-file");
  if (!path) return Combined{arguments, {}, {}};
  auto settings = settings_of(*path);
  if (!settings) return tl::unexpected(settings.error());
  RunFileUse use{*path, is_training_arguments(*settings), {}, {}};
  if (use.training_arguments) {
    auto translated = from_training_arguments(*settings, shape, arguments, use);
    if (!translated) return tl::unexpected(translated.error());
    settings = std::move(*translated);
  }
  std::vector<std::string> words = words_of(shape, arguments), model;
  std::set<const Flag*> seen;
  std::map<std::string, std::string> places;
  for (const Setting& setting : *settings) {
    if (setting.key == "model") {
      if (setting.values.size() != 1) return one_model(setting, *path);
      if (!decided(arguments, setting, "model")) model = {"--", setting.values.front()};
      continue;
    }
    const Flag* flag = flag_of(shape, setting.key);
    if (flag == nullptr) return unknown(shape, setting, *path);
    if (!seen.insert(flag).second) return twice(setting, *path);
    if (decided(arguments, setting, flag->name)) continue;
    const auto more = words_of(*flag, setting, *path);
    if (!more) return tl::unexpected(more.error());
    words.insert(words.end(), more->begin(), more->end());
    places.emplace(flag->name, place_of(setting, *path));
  }
  words.insert(words.end(), model.begin(), model.end());
  const std::vector<std::string_view> views(words.begin(), words.end());
  return parse_arguments(shape, views)
      .map([&](Arguments parsed) {
        return Combined{std::move(parsed), use, places};
      })
      .map_error([&](Error error) { return placed(std::move(error), places); });
}

}  // namespace ullage::cli
