// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/flags.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hardware/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ullage::cli {
namespace {

Result<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorKind::usage, "not a whole number", "'" + std::string(text) + "'", "a number such as 4");
  }
  return value;
}

template <class T>
Result<void> only_check(const Result<T>& result) {
  if (!result) return tl::unexpected(result.error());
  return {};
}

Result<void> check_size(std::string_view value) {
  const auto bytes = parse_size(value);
  if (!bytes) return tl::unexpected(bytes.error());
  if (!has_lost_its_unit(value)) return {};
  return fail(ErrorKind::usage, "a size without a unit is a number of bytes", {}, units_for(value));
}

Result<void> check_kind(FlagKind kind, std::string_view value) {
  switch (kind) {
    case FlagKind::toggle:
    case FlagKind::text:
      return {};
    case FlagKind::count:
      return only_check(parse_count(value));
    case FlagKind::size:
      return check_size(value);
    case FlagKind::share:
      return only_check(parse_percent(value));
    case FlagKind::duration:
      return only_check(parse_duration(value));
    case FlagKind::gpu:
      return only_check(find_gpu(value));
  }
  return {};
}

Result<void> check_value(const Flag& flag, std::string_view value) {
  return check_kind(flag.kind, value).map_error([&](Error error) {
    error.where = "--" + std::string(flag.name) + " " + std::string(value);
    return error;
  });
}

const Flag* find_flag(std::span<const Flag> flags, std::string_view name) {
  const auto found = std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

tl::unexpected<Error> unknown_flag(std::span<const Flag> flags, std::string_view word, std::string_view name) {
  std::vector<std::string> dashed{"--help"};
  for (const Flag& flag : flags) dashed.push_back("--" + std::string(flag.name));
  const std::vector<std::string_view> names(dashed.begin(), dashed.end());
  std::string hint = suggestion("--" + std::string(name), names);
  if (hint.empty()) hint = "--help lists the flags";
  return fail(ErrorKind::usage, "unknown flag", std::string(word), {}, hint);
}

// A word that is a flag, split at its first '='.
struct FlagWord {
  std::string_view name;
  std::optional<std::string_view> value;
};

std::optional<FlagWord> as_flag(std::string_view word) {
  if (!word.starts_with('-') || word == "-") return std::nullopt;
  const std::string_view body = word.substr(word.starts_with("--") ? 2 : 1);
  const auto cut = body.find('=');
  if (cut == std::string_view::npos) return FlagWord{body, std::nullopt};
  return FlagWord{body.substr(0, cut), body.substr(cut + 1)};
}

// The value of `flag`: from its own word, or from the next one, which is then used up.
Result<std::string_view> take_value(const Flag& flag, const FlagWord& word, std::span<const std::string_view>& rest) {
  const std::string name = "--" + std::string(flag.name);
  if (flag.kind == FlagKind::toggle) {
    if (word.value) return fail(ErrorKind::usage, "this flag takes no value", name);
    return std::string_view{};
  }
  if (word.value) return *word.value;
  if (rest.empty() || rest.front() == "--") {
    return fail(ErrorKind::usage, "a value is missing", name, name + " " + std::string(flag.value_name));
  }
  const std::string_view value = rest.front();
  rest = rest.subspan(1);
  return value;
}

Result<void> add_positional(const Shape& shape, Arguments& arguments, std::string_view word) {
  if (arguments.positionals.size() >= shape.positionals) {
    const std::string hint = shape.command ? "a command to run goes after --" : "--help shows what this command takes";
    return fail(ErrorKind::usage, "unexpected argument", "'" + std::string(word) + "'", {}, hint);
  }
  arguments.positionals.emplace_back(word);
  return {};
}

Result<void> add_rest(const Shape& shape, Arguments& arguments, std::span<const std::string_view> rest) {
  if (shape.command) {
    arguments.command.assign(rest.begin(), rest.end());
    return {};
  }
  for (const std::string_view word : rest) {
    if (auto added = add_positional(shape, arguments, word); !added) return added;
  }
  return {};
}

/// A file that another flag names may know the GPU.
bool checked_later(const Shape& shape, const Flag& flag) {
  return flag.kind == FlagKind::gpu && find_flag(shape.flags, "gpu-file") != nullptr;
}

bool asks_for_help(std::span<const std::string_view> words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](std::string_view word) { return word == "-h" || word == "--help"; });
}

}  // namespace

Result<Arguments> parse_arguments(const Shape& shape, std::span<const std::string_view> words) {
  Arguments arguments;
  arguments.help = asks_for_help(words);
  if (arguments.help) return arguments;
  for (const Flag& flag : shape.flags) {
    if (!flag.fallback.empty()) arguments.fallbacks_.emplace(flag.name, flag.fallback);
  }
  while (!words.empty()) {
    const std::string_view word = words.front();
    words = words.subspan(1);
    if (word == "--") {
      if (auto added = add_rest(shape, arguments, words); !added) return tl::unexpected(added.error());
      break;
    }
    const auto flag_word = as_flag(word);
    if (!flag_word) {
      if (auto added = add_positional(shape, arguments, word); !added) return tl::unexpected(added.error());
      continue;
    }
    const Flag* flag = word.starts_with("--") ? find_flag(shape.flags, flag_word->name) : nullptr;
    if (!flag) return unknown_flag(shape.flags, word, flag_word->name);
    const auto value = take_value(*flag, *flag_word, words);
    if (!value) return tl::unexpected(value.error());
    if (!checked_later(shape, *flag))
      if (auto checked = check_value(*flag, *value); !checked) return tl::unexpected(checked.error());
    arguments.values_[std::string(flag->name)] = std::string(*value);
    arguments.in_order_.emplace_back(flag->name, *value);
  }
  return arguments;
}

std::vector<std::string> Arguments::texts(std::string_view flag) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : in_order_)
    if (name == flag) values.push_back(value);
  return values;
}

std::optional<std::string> Arguments::text(std::string_view flag) const {
  if (const auto found = values_.find(flag); found != values_.end()) return found->second;
  if (const auto found = fallbacks_.find(flag); found != fallbacks_.end()) return found->second;
  return std::nullopt;
}

std::optional<std::uint64_t> Arguments::count(std::string_view flag) const {
  const auto value = text(flag);
  return value ? std::optional(parse_count(*value).value()) : std::nullopt;
}

std::optional<std::uint64_t> Arguments::size(std::string_view flag) const {
  const auto value = text(flag);
  return value ? std::optional(parse_size(*value).value()) : std::nullopt;
}

std::optional<double> Arguments::share(std::string_view flag) const {
  const auto value = text(flag);
  return value ? std::optional(parse_percent(*value).value()) : std::nullopt;
}

std::optional<std::chrono::milliseconds> Arguments::duration(std::string_view flag) const {
  const auto value = text(flag);
  return value ? std::optional(parse_duration(*value).value()) : std::nullopt;
}

std::string describe_flags(std::span<const Flag> flags) {
  Table table({{"", Align::left}, {"", Align::left}});
  for (const Flag& flag : flags) {
    std::string left = "  --" + std::string(flag.name);
    if (!flag.value_name.empty()) left += " " + std::string(flag.value_name);
    std::string right(flag.help);
    if (!flag.fallback.empty()) right += " (default " + std::string(flag.fallback) + ")";
    table.add({left, right});
  }
  table.add({"  -h, --help", "print this help"});
  return table.text();
}

}  // namespace ullage::cli
