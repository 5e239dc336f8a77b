// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"

#include "store/blob.hpp"
#include "store/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace ullage::store {
namespace {

constexpr const char* columns =
    "number, id, name, directory, kind, command, script, started_ms, verdict, exit_code, gpu, torch, cuda, python, "
    "commit_id, dirty, configuration";
constexpr int column_count = 17;

std::string words_text(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0, end; (end = text.find('\0', begin)) != text.npos; begin = end + 1)
    words.push_back(text.substr(begin, end - begin));
  return words;
}

Summary summary_of(const Statement& row) {
  Summary summary;
  summary.id = row.text(1);
  summary.name = row.text(2);
  summary.directory = row.text(3);
  summary.kind = row.text(4);
  summary.command = words_of(row.text(5));
  summary.script = row.text(6);
  summary.started_ms = row.number(7);
  summary.verdict = row.text(8);
  summary.exit_code = static_cast<int>(row.number(9));
  summary.gpu = row.text(10);
  summary.torch = row.text(11);
  summary.cuda = row.text(12);
  summary.python = row.text(13);
  summary.commit = row.text(14);
  if (!row.null(15)) summary.dirty = row.number(15) != 0;
  summary.configuration = row.text(16);
  return summary;
}

struct SortColumn {
  std::string_view name, sql;
  bool largest_first;
};

constexpr std::array<SortColumn, 12> sort_columns = {{{"started", "started_ms", true},
                                                      {"id", "id", false},
                                                      {"name", "name", false},
                                                      {"kind", "kind", false},
                                                      {"script", "script", false},
                                                      {"verdict", "verdict", false},
                                                      {"exit_code", "exit_code", true},
                                                      {"gpu", "gpu", false},
                                                      {"torch", "torch", false},
                                                      {"directory", "directory", false},
                                                      {"commit", "commit_id", false},
                                                      {"configuration", "configuration", false}}};

/// What to sort by, as SQL with at most one parameter.
struct SortBy {
  std::string sql;
  bool has_parameter = false;
};

SortBy sort_by(const Order& order) {
  const auto direction = [&](bool fallback) {
    return fallback != order.reverse ? " DESC NULLS LAST" : " ASC NULLS LAST";
  };
  const auto column = std::ranges::find(sort_columns, order.column, &SortColumn::name);
  if (column != sort_columns.end()) return {std::string(column->sql) + direction(column->largest_first), false};
  const bool metric = find_metric(order.column).has_value();
  if (metric)
    return {"(SELECT value FROM metrics WHERE run = number AND metrics.name = ?)" + std::string(direction(true)), true};
  // Numbers come before texts, and among them by size.
  return {"(SELECT coalesce(settings.number, text) FROM settings WHERE run = runs.number AND settings.name = ?)" +
              std::string(direction(false)),
          true};
}

std::int64_t whole(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

/// After an error; SQLite has often done it already, and says so.
void roll_back(Database& database) {
  database.execute("ROLLBACK");
  (void)database.error();
}

/// The number of its row.
std::int64_t insert_summary(Database& database, const Summary& summary) {
  Statement run =
      database.prepare(fmt::format("INSERT INTO runs({}) VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", columns));
  run.bind(summary.id).bind(summary.name).bind(summary.directory).bind(summary.kind);
  run.bind(words_text(summary.command)).bind(summary.script).bind(summary.started_ms).bind(summary.verdict);
  run.bind(std::int64_t{summary.exit_code}).bind(summary.gpu).bind(summary.torch).bind(summary.cuda);
  run.bind(summary.python).bind(summary.commit);
  if (summary.dirty)
    run.bind(std::int64_t{*summary.dirty});
  else
    run.bind_null();
  run.bind(summary.configuration).run();
  return database.last_row();
}

void insert_figures(Database& database, std::int64_t run, const Record& record) {
  Statement metric = database.prepare("INSERT OR REPLACE INTO metrics VALUES(?,?,?)");
  for (const auto& [id, value] : record.metrics) metric.bind(run).bind(metrics()[id].name).bind(value).run();
  Statement row = database.prepare("INSERT OR REPLACE INTO settings VALUES(?,?,?,?,?,?)");
  for (const Setting& one : record.settings) {
    row.bind(run).bind(name_of(one.group)).bind(one.key).bind(name_of(one.type)).bind(one.text).bind(one.number);
    row.run();
  }
}

void insert_tables(Database& database, std::int64_t run, const Record& record) {
  Statement row = database.prepare("INSERT INTO phases VALUES(?,?,?,?,?,?,?,?,?)");
  for (std::size_t i = 0; i < record.phases.size(); ++i) {
    const Phase& phase = record.phases[i];
    row.bind(run).bind(whole(i)).bind(whole(phase.step)).bind(whole(phase.micro_batch)).bind(phase.name);
    row.bind(whole(phase.allocated)).bind(whole(phase.reserved));
    row.bind(whole(phase.peak_allocated)).bind(whole(phase.peak_reserved)).run();
  }
  Statement line = database.prepare("INSERT INTO ledger_lines VALUES(?,?,?,?,?,?)");
  for (std::size_t i = 0; i < record.lines.size(); ++i) {
    const LedgerLine& one = record.lines[i];
    line.bind(run).bind(whole(i)).bind(one.id).bind(one.name).bind(whole(one.depth)).bind(whole(one.bytes)).run();
  }
}

}  // namespace

Result<Store> Store::open(const std::string& path, bool create) {
  auto database = Database::open(path, create);
  if (!database) return tl::unexpected(database.error());
  if (const auto migrated = migrate(**database); !migrated) return tl::unexpected(migrated.error());
  (*database)->execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL");
  if (const auto failed = (*database)->error(); !failed) return tl::unexpected(failed.error());
  return Store(std::move(*database));
}

bool is_damaged(const std::string& path) {
  const auto database = Database::open(path, false);
  if (!database) return false;
  (void)(*database)->number("SELECT count(*) FROM sqlite_master");
  if ((*database)->error()) {
    Statement check = (*database)->prepare("PRAGMA quick_check(1)");
    if (check.step() && check.text(0) != "ok") return true;
  }
  return (*database)->is_damaged();
}

bool Store::is_taken_up_here(const Source& source) {
  Statement query = database_->prepare(
      "SELECT 1 FROM runs JOIN results ON run = number WHERE id = ? AND directory = ? AND imported = 0");
  return query.bind(source.id).bind(source.directory).step();
}

void Store::insert(const Record& record) {
  const bool imported = record.source.imported && !is_taken_up_here(record.source);
  database_->prepare("DELETE FROM runs WHERE id = ?").bind(record.summary.id).run();
  const std::int64_t run = insert_summary(*database_, record.summary);
  database_->prepare("INSERT INTO results(run, changed_ms, run_json, imported) VALUES(?,?,?,?)")
      .bind(run)
      .bind(record.source.changed_ms)
      .bind_blob(packed(record.source.run_json))
      .bind(std::int64_t{imported})
      .run();
  insert_figures(*database_, run, record);
  insert_tables(*database_, run, record);
}

Result<void> Store::put(const Record& record) {
  return put(std::vector<Record>{record});
}

Result<void> Store::put(const std::vector<Record>& records) {
  database_->execute("BEGIN IMMEDIATE");
  for (const Record& record : records) insert(record);
  database_->execute("COMMIT");
  auto done = database_->error();
  if (!done) roll_back(*database_);
  return done;
}

Result<bool> Store::remove(const std::string& id) {
  database_->prepare("DELETE FROM runs WHERE id = ?").bind(id).run();
  return database_->error().map([this] { return database_->changes() > 0; });
}

Result<std::vector<Row>> Store::list(const Query& query) {
  std::string sql = fmt::format("SELECT {}", columns);
  for (std::size_t i = 0; i < query.metrics.size(); ++i)
    sql += ", (SELECT value FROM metrics WHERE run = runs.number AND metrics.name = ?)";
  for (std::size_t i = 0; i < query.settings.size(); ++i)
    sql += ", (SELECT text FROM settings WHERE run = runs.number AND settings.name = ?)";
  const Condition condition = condition_of(query.filter);
  const SortBy sort = sort_by(query.order);
  sql += fmt::format(" FROM runs WHERE {} ORDER BY {}, started_ms DESC, number DESC", condition.sql, sort.sql);
  if (query.limit > 0) sql += fmt::format(" LIMIT {}", std::min<std::uint64_t>(query.limit, INT64_MAX));
  Statement rows = database_->prepare(sql);
  for (const std::string& name : query.metrics) rows.bind(name);
  for (const std::string& name : query.settings) rows.bind(name);
  for (const std::string& text : condition.texts) rows.bind(text);
  if (sort.has_parameter) rows.bind(query.order.column);
  std::vector<Row> found;
  while (rows.step()) {
    Row row{summary_of(rows), {}, {}};
    int column = column_count;
    for (std::size_t i = 0; i < query.metrics.size(); ++i, ++column)
      row.metrics.push_back(rows.null(column) ? std::nullopt : std::optional(rows.number(column)));
    for (std::size_t i = 0; i < query.settings.size(); ++i, ++column)
      row.settings.push_back(rows.null(column) ? std::nullopt : std::optional(rows.text(column)));
    found.push_back(std::move(row));
  }
  return database_->error().map([&] { return std::move(found); });
}

Result<std::uint64_t> Store::count(const Filter& filter) {
  const Condition condition = condition_of(filter);
  Statement query = database_->prepare("SELECT count(*) FROM runs WHERE " + condition.sql);
  for (const std::string& text : condition.texts) query.bind(text);
  const std::uint64_t number = query.step() ? static_cast<std::uint64_t>(query.number(0)) : 0;
  return database_->error().map([number] { return number; });
}

Result<std::optional<Source>> Store::find(const std::string& id) {
  Statement query = database_->prepare(
      "SELECT directory, changed_ms, run_json, imported FROM runs JOIN results ON run = number WHERE id = ?");
  query.bind(id);
  if (!query.step()) return database_->error().map([] { return std::optional<Source>(); });
  auto text = unpacked(query.text(2));
  if (!text) return tl::unexpected(text.error());
  return std::optional(Source{id, query.text(0), query.number(1), std::move(*text), query.number(3) != 0});
}

Result<std::string> Store::id_of(const std::string& directory) {
  Statement query = database_->prepare("SELECT id FROM runs WHERE directory = ? ORDER BY started_ms DESC");
  query.bind(directory);
  const std::string id = query.step() ? query.text(0) : "";
  return database_->error().map([&] { return id; });
}

std::vector<Summary> Store::summaries(Statement query) {
  std::vector<Summary> found;
  while (query.step()) found.push_back(summary_of(query));
  return found;
}

Result<std::vector<Summary>> Store::with_prefix(const std::string& beginning, std::uint64_t limit) {
  Statement query = database_->prepare(fmt::format(
      "SELECT {} FROM runs WHERE substr(id, 1, length(?)) = ? ORDER BY started_ms DESC, number DESC LIMIT {}", columns,
      limit));
  query.bind(beginning).bind(beginning);
  auto found = summaries(std::move(query));
  return database_->error().map([&] { return std::move(found); });
}

Result<std::vector<Summary>> Store::named(const std::string& name, std::uint64_t limit) {
  Statement query = database_->prepare(
      fmt::format("SELECT {} FROM runs WHERE name = ? ORDER BY started_ms DESC, number DESC LIMIT {}", columns, limit));
  query.bind(name);
  auto found = summaries(std::move(query));
  return database_->error().map([&] { return std::move(found); });
}

Result<std::vector<std::string>> Store::ids() {
  return texts("SELECT id FROM runs ORDER BY started_ms, number");
}

Result<std::vector<std::string>> Store::setting_keys() {
  return texts("SELECT DISTINCT name FROM settings ORDER BY name");
}

Result<std::vector<std::string>> Store::texts(std::string_view sql) {
  Statement query = database_->prepare(sql);
  std::vector<std::string> found;
  while (query.step()) found.push_back(query.text(0));
  return database_->error().map([&] { return std::move(found); });
}

}  // namespace ullage::store
