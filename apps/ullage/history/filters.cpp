// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/filters.hpp"

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hardware/catalogue.hpp"
#include "store/time.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace ullage::cli {
namespace {

using Names = std::span<const std::string_view>;

std::vector<std::string> list_of(const Arguments& arguments, std::string_view flag) {
  std::vector<std::string> words;
  for (const std::string& value : arguments.texts(flag))
    for (const std::string& word : split(value, ',')) words.push_back(word);
  return words;
}

Result<std::vector<std::string>> list_of(const Arguments& arguments, std::string_view flag, Names allowed) {
  auto words = list_of(arguments, flag);
  for (const std::string& word : words)
    if (std::ranges::find(allowed, word) == allowed.end())
      return fail(ErrorKind::usage, "unknown value '" + word + "'", "--" + std::string(flag),
                  "one of " + join(std::vector<std::string>(allowed.begin(), allowed.end()), ", "),
                  suggestion(word, allowed));
  return words;
}

Result<std::vector<std::string>> gpus_of(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& word : list_of(arguments, "gpu")) {
    const auto gpu = find_gpu(word);
    if (!gpu) return tl::unexpected(gpu.error());
    names.emplace_back((*gpu)->short_name);
  }
  return names;
}

/// Milliseconds of `7d`, `2w`, and of what parse_duration reads.
Result<std::int64_t> age_ms(const std::string& text) {
  constexpr std::int64_t day_ms = 24 * 3600 * std::int64_t{1000};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  if (error == std::errc{} && number >= 0 && number < 100'000 && (unit == "d" || unit == "w"))
    return number * day_ms * (unit == "w" ? 7 : 1);
  return parse_duration(text).map([](std::chrono::milliseconds age) { return std::int64_t{age.count()}; });
}

Result<std::optional<std::int64_t>> time_of(const Arguments& arguments, std::string_view flag) {
  const auto text = arguments.text(flag);
  if (!text) return std::optional<std::int64_t>();
  if (const auto age = age_ms(*text)) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::optional(std::chrono::duration_cast<std::chrono::milliseconds>(now).count() - *age);
  }
  return store::parse_time(*text, true).map([](std::int64_t ms) { return std::optional(ms); }).map_error([&](Error e) {
    e.where = "--" + std::string(flag) + " " + *text;
    return e;
  });
}

Result<std::vector<std::pair<std::string, std::string>>> settings_of(const Arguments& arguments) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const std::string& text : arguments.texts("where")) {
    const auto cut = text.find('=');
    if (cut == 0 || cut == text.npos)
      return fail(ErrorKind::usage, "a setting needs a key and a value", "--where " + text, "--where --batch=4");
    settings.emplace_back(text.substr(0, cut), text.substr(cut + 1));
  }
  return settings;
}

}  // namespace

Result<store::Filter> filter_of(const Arguments& arguments) {
  static constexpr std::array<std::string_view, 5> verdicts = {"fits", "tight", "oom", "failed", "timeout"};
  static constexpr std::array<std::string_view, 2> kinds = {"rehearsal", "recording"};
  const auto gpu_names = gpus_of(arguments);
  if (!gpu_names) return tl::unexpected(gpu_names.error());
  const auto chosen_verdicts = list_of(arguments, "verdict", verdicts);
  if (!chosen_verdicts) return tl::unexpected(chosen_verdicts.error());
  const auto chosen_kinds = list_of(arguments, "kind", kinds);
  if (!chosen_kinds) return tl::unexpected(chosen_kinds.error());
  const auto since = time_of(arguments, "since");
  if (!since) return tl::unexpected(since.error());
  const auto until = time_of(arguments, "until");
  if (!until) return tl::unexpected(until.error());
  const auto settings = settings_of(arguments);
  if (!settings) return tl::unexpected(settings.error());
  return store::Filter{
      *gpu_names, *chosen_verdicts, *chosen_kinds, list_of(arguments, "name"), arguments.text("script"),
      *since,     *until,           *settings};
}

}  // namespace ullage::cli
