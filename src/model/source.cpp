// SPDX-License-Identifier: Apache-2.0
#include "model/source.hpp"

#include "model/catalogue.hpp"
#include "model/file.hpp"
#include "model/hub.hpp"
#include "model/hub_cache.hpp"

#include <filesystem>
#include <optional>

namespace ullage::model {
namespace {

namespace fs = std::filesystem;

Result<Source> read_source(const std::string& path, std::string origin) {
  return read_config_file(path).map([&](std::string json) { return Source{std::move(json), path, std::move(origin)}; });
}

/// Nothing when `name` is no path of a configuration.
std::optional<Result<Source>> on_disk(const std::string& name) {
  if (name == "-") return read_source("/dev/stdin", "stdin");
  std::error_code error;
  const fs::path path(name);
  const fs::path config = fs::is_directory(path, error) ? path / "config.json" : path;
  if (!fs::exists(config, error) || fs::is_directory(config, error)) return std::nullopt;
  return read_source(config.string(), config.string());
}

tl::unexpected<Error> not_found(const std::string& name) {
  std::error_code error;
  const bool folder = fs::is_directory(name, error);
  const bool path = folder || name.ends_with(".json") || name.starts_with('.') || name.starts_with('/');
  if (path)
    return fail(ErrorKind::io, folder ? "the folder holds no config.json" : "no such file", name,
                "a config.json of the Hugging Face hub, or a folder with one");
  const std::string hint = catalogue_suggestion(name);
  return fail(ErrorKind::usage, "unknown model", "'" + name + "'",
              "the path of a config.json, a name of the catalogue, or an id of the Hugging Face hub", hint);
}

Result<Source> on_hub(const std::string& name) {
  return fetch_config(name).map([](Fetched fetched) {
    return Source{std::move(fetched.text), fetched.url, fetched.url};
  });
}

Result<Source> forbidden(const std::string& name) {
  auto error = not_found(name);
  error.value().what = "unknown model, and the hub may not be asked (HF_HUB_OFFLINE)";
  return error;
}

}  // namespace

Result<Source> find_source(const std::string& name) {
  if (auto found = on_disk(name)) return *found;
  if (const CatalogueEntry* entry = find_in_catalogue(name))
    return Source{std::string(entry->config), std::string(entry->short_name),
                  "catalogue: " + std::string(entry->source)};
  std::error_code error;
  if (fs::is_directory(name, error)) return not_found(name);  // somebody's folder is no name to ask the hub for
  if (const auto cached = find_in_hub_cache(name)) return read_source(*cached, "the hub's cache: " + *cached);
  if (!is_hub_id(name) || name.find('/') == std::string::npos) return not_found(name);
  return hub_is_forbidden() ? forbidden(name) : on_hub(name);
}

}  // namespace ullage::model
