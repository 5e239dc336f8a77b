// SPDX-License-Identifier: Apache-2.0
#include "model/hub_cache.hpp"

#include "base/text.hpp"
#include "model/environment.hpp"
#include "model/file.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace ullage::model {
namespace {

namespace fs = std::filesystem;

bool is_part(std::string_view part) {
  constexpr std::string_view others = "-_.";
  const auto allowed = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || others.find(c) != others.npos;
  };
  return !part.empty() && part.size() <= 96 && part.front() != '.' && part.front() != '-' &&
         part.find("..") == part.npos && std::ranges::all_of(part, allowed);
}

/// models--meta-llama--Llama-3.1-8B
std::string folder_name(const std::string& id) {
  return "models--" + join(split(id, '/'), "--");
}

std::optional<std::string> config_in(const fs::path& snapshot) {
  std::error_code error;
  const fs::path config = snapshot / "config.json";
  return fs::is_regular_file(config, error) ? std::optional(config.string()) : std::nullopt;
}

std::vector<fs::path> snapshots_of(const fs::path& model) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(model / "snapshots", error), end; !error && at != end; at.increment(error))
    found.push_back(at->path());
  std::ranges::sort(found, std::greater<>());
  return found;
}

}  // namespace

bool is_hub_id(const std::string& name) {
  const std::vector<std::string> parts = split(name, '/');
  return parts.size() <= 2 && std::ranges::all_of(parts, is_part);
}

std::string hub_cache_folder() {
  if (const std::string cache = environment("HF_HUB_CACHE"); !cache.empty()) return cache;
  if (const std::string home = environment("HF_HOME"); !home.empty()) return home + "/hub";
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/huggingface/hub";
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache/huggingface/hub";
}

std::optional<std::string> find_in_hub_cache(const std::string& id) {
  const std::string cache = hub_cache_folder();
  if (cache.empty() || !is_hub_id(id)) return std::nullopt;
  const fs::path model = fs::path(cache) / folder_name(id);
  if (const auto commit = read_config_file((model / "refs" / "main").string())) {
    const std::string name(trim(*commit));
    if (is_part(name))
      if (auto config = config_in(model / "snapshots" / name)) return config;
  }
  for (const fs::path& snapshot : snapshots_of(model))
    if (auto config = config_in(snapshot)) return config;
  return std::nullopt;
}

}  // namespace ullage::model
