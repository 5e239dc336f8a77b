// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/transfer.hpp"

#include "apps/ullage/history/take_in.hpp"
#include "apps/ullage/output.hpp"
#include "apps/ullage/result_file.hpp"
#include "base/text.hpp"
#include "ingest/file/source.hpp"
#include "report/json/json_writer.hpp"
#include "store/json_lines.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

Result<std::string> only_file(const Arguments& arguments, const char* usage) {
  if (arguments.positionals.size() == 2) return arguments.positionals[1];
  return fail(ErrorKind::usage, "just one file is needed", "ullage store", usage);
}

/// A run that this machine took up from its directory: what the directory says holds, not what a file says of it.
Result<bool> is_own(store::Store& store, const store::Record& record) {
  return store.find(record.summary.id).map([&](const std::optional<store::Source>& present) {
    return present && !present->imported && present->directory == record.summary.directory;
  });
}

/// An id that another run of this store has gets the hash of the run's directory.
Result<store::Record> with_free_id(store::Store& store, store::Record record) {
  const auto present = store.find(record.summary.id);
  if (!present) return tl::unexpected(present.error());
  if (*present && (*present)->directory != record.summary.directory) {
    record.summary.id += "-" + store::hash_of(record.summary.directory).substr(0, 8);
    record.source.id = record.summary.id;
  }
  return record;
}

Result<store::Record> record_of_line(store::Store& store, std::string_view line) {
  return store::source_of(line)
      .and_then([](store::Source source) {
        source.imported = true;
        return store::record_of(std::move(source));
      })
      .and_then([&](store::Record record) { return with_free_id(store, std::move(record)); });
}

Error at_line(Error error, const std::string& path, std::uint64_t number) {
  error.where = fmt::format("{}, line {}{}", path, number, error.where.empty() ? "" : ": " + error.where);
  error.hint += (error.hint.empty() ? "" : "; ") + std::string("nothing was taken in");
  return error;
}

/// How many were taken in: all, or none where a line is bad.
Result<std::uint64_t> import_lines(store::Store& store, std::string_view text, const std::string& path) {
  std::vector<store::Record> records;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    auto record = record_of_line(store, line);
    if (!record) return tl::unexpected(at_line(record.error(), path, number));
    const auto own = is_own(store, *record);
    if (!own) return tl::unexpected(own.error());
    if (!*own) records.push_back(std::move(*record));
  }
  return store.put(records).map([&] { return std::uint64_t{records.size()}; });
}

Result<ExitCode> say_done(const Arguments& arguments, const char* action, std::uint64_t runs, const char* text) {
  JsonWriter json;
  json.begin_result("store");
  json.field("action", action);
  json.field("runs", runs);
  json.end_object();
  return print_result(arguments.given("json") ? json.text() : fmt::format("{} {}\n", counted(runs, "run"), text))
      .map([] { return ExitCode::yes; });
}

}  // namespace

Result<ExitCode> export_store(const Arguments& arguments) {
  const auto path = only_file(arguments, "ullage store export FILE|-");
  if (!path) return tl::unexpected(path.error());
  auto store = open_history();
  if (!store) return tl::unexpected(store.error());
  auto file = ResultFile::open(*path, arguments.given("force"));
  if (!file) return tl::unexpected(file.error());
  const auto ids = *store ? (*store)->ids() : Result<std::vector<std::string>>();
  if (!ids) return tl::unexpected(ids.error());
  for (const std::string& id : *ids) {
    const auto source = (*store)->find(id);
    if (!source) return tl::unexpected(source.error());
    if (*source) file->write(store::line_of(**source));  // else another process has just removed it
  }
  return file->keep().and_then([&]() -> Result<ExitCode> {
    return *path == "-" ? Result<ExitCode>(ExitCode::yes) : say_done(arguments, "export", ids->size(), "written");
  });
}

Result<ExitCode> import_store(const Arguments& arguments) {
  const auto path = only_file(arguments, "ullage store import FILE|-");
  if (!path) return tl::unexpected(path.error());
  auto source = ingest::Source::open_once(*path);
  if (!source) return tl::unexpected(source.error());
  auto store = make_store();
  if (!store) return tl::unexpected(store.error());
  const auto bytes = source->rest();
  if (source->damage()) return tl::unexpected(*source->damage());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return import_lines(*store, text, *path).and_then([&](std::uint64_t runs) {
    return say_done(arguments, "import", runs, "taken in");
  });
}

}  // namespace ullage::cli
