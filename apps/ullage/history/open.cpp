// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/open.hpp"

#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/index.hpp"
#include "apps/ullage/history/location.hpp"

namespace ullage::cli {
namespace {

Result<store::Record> stored_record(const std::string& id) {
  auto store = open_store();
  if (!store) return tl::unexpected(store.error());
  if (*store) {
    auto source = (*store)->find(id);
    if (!source) return tl::unexpected(source.error());
    if (*source) return store::record_of(std::move(**source));
  }
  return fail(ErrorKind::usage, "the run is not in the history", id);
}

}  // namespace

Result<store::Record> open_record(const std::string& argument) {
  return resolve_run(argument, RunPart::result).and_then([](const RunPlace& place) {
    if (place.id.empty() || is_run_directory(place.directory)) return read_record(place.directory);
    return stored_record(place.id);
  });
}

Result<store::Record> open_one_record(const Arguments& arguments, const std::string& command) {
  if (arguments.positionals.size() == 1) return open_record(arguments.positionals.front());
  return fail(ErrorKind::usage, arguments.positionals.empty() ? "what is missing is a run" : "just one run is meant",
              command, command + " RUN");
}

}  // namespace ullage::cli
