// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/choice.hpp"

#include "apps/ullage/hardware/own_gpus.hpp"
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

/// Says where the name was given.
Error of_choice(const Arguments& arguments, const std::string& name, Error error) {
  error.where = (arguments.given("gpu") ? "--gpu " : "ULLAGE_GPU=") + name;
  return error;
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
  const auto own = own_gpus(arguments);
  if (!own) return tl::unexpected(own.error());
  const std::string name = gpu_words(arguments);
  if (!name.empty())
    return find_gpu(name, *own).map_error([&](Error error) { return of_choice(arguments, name, std::move(error)); });
  std::vector<std::string> names;
  for (const auto list : {*own, gpus()})
    for (const Gpu& gpu : list) names.emplace_back(gpu.short_name);
  return fail(ErrorKind::usage, "no GPU was chosen", {}, "--gpu NAME, or the variable ULLAGE_GPU",
              "known names: " + join(names, " "));
}

Result<std::vector<const Gpu*>> chosen_gpus(const Arguments& arguments) {
  const auto own = own_gpus(arguments);
  if (!own) return tl::unexpected(own.error());
  const std::string words = gpu_words(arguments);
  std::vector<const Gpu*> chosen;
  if (words.empty()) return chosen;
  if (words == "all") return all_gpus(*own);
  for (const std::string& name : split(words, ',')) {
    const auto gpu = find_gpu(name, *own);
    if (!gpu) return tl::unexpected(of_choice(arguments, name, gpu.error()));
    chosen.push_back(*gpu);
  }
  return chosen;
}

std::vector<const Gpu*> all_gpus(std::span<const Gpu> own) {
  std::vector<const Gpu*> all;
  for (const auto list : {gpus(), own})
    for (const Gpu& gpu : list) all.push_back(&gpu);
  return all;
}

}  // namespace ullage::cli
