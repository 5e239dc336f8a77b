// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/choice.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace ullage::cli {
namespace {

std::string gpu_words(const Arguments& arguments) {
  const char* variable = std::getenv("ULLAGE_GPU");
  return arguments.text("gpu").value_or(variable != nullptr ? variable : "");
}

}  // namespace

Result<std::size_t> choice(const Arguments& arguments, std::string_view flag, std::span<const std::string_view> names) {
  const std::string word = arguments.text(flag).value_or("");
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::vector<std::string> all(names.begin(), names.end());
  return fail(ErrorKind::usage, "unknown value '" + word + "'", "--" + std::string(flag), "one of " + join(all, ", "),
              suggestion(word, names));
}

Result<const Gpu*> chosen_gpu(const Arguments& arguments) {
  const std::string name = gpu_words(arguments);
  if (!name.empty()) return find_gpu(name);
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus()) names.emplace_back(gpu.short_name);
  return fail(ErrorKind::usage, "no GPU was chosen", {}, "--gpu NAME, or the variable ULLAGE_GPU",
              "known names: " + join(names, " "));
}

Result<std::vector<const Gpu*>> chosen_gpus(const Arguments& arguments) {
  const std::string words = gpu_words(arguments);
  std::vector<const Gpu*> chosen;
  if (words.empty()) return chosen;
  if (words == "all") {
    for (const Gpu& gpu : gpus()) chosen.push_back(&gpu);
    return chosen;
  }
  for (const std::string& name : split(words, ',')) {
    const auto gpu = find_gpu(name);
    if (!gpu) return tl::unexpected(gpu.error());
    chosen.push_back(*gpu);
  }
  return chosen;
}

}  // namespace ullage::cli
