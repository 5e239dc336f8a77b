// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/location.hpp"

#include "apps/ullage/evidence/resolve.hpp"

#include <cstdlib>
#include <filesystem>

namespace ullage::cli {

namespace fs = std::filesystem;

void choose_store(const Arguments& arguments) {
  if (arguments.given("no-store")) setenv("ULLAGE_STORE", "none", 1);
  if (const auto path = arguments.text("store")) setenv("ULLAGE_STORE", path->c_str(), 1);
}

std::string store_path() {
  const char* variable = std::getenv("ULLAGE_STORE");
  if (variable != nullptr && *variable != 0) return std::string_view(variable) == "none" ? "" : variable;
  const auto data = data_directory();
  return data ? (*data / "store.db").string() : "";
}

Result<std::optional<store::Store>> open_store() {
  const std::string path = store_path();
  std::error_code error;
  if (path.empty() || !fs::exists(path, error)) return std::optional<store::Store>();
  return store::Store::open(path, false).map([](store::Store&& store) { return std::optional(std::move(store)); });
}

Result<store::Store> make_store() {
  const std::string path = store_path();
  if (path.empty())
    return fail(ErrorKind::usage, "there is no history of runs: it is switched off, or there is no home folder",
                "ULLAGE_STORE", "--store FILE");
  std::error_code error;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) fs::create_directories(folder, error);
  if (error) return fail(ErrorKind::io, "cannot make the folder of the store: " + error.message(), path);
  return store::Store::open(path, true);
}

}  // namespace ullage::cli
