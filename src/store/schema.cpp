// SPDX-License-Identifier: Apache-2.0
#include "store/schema.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>

namespace ullage::store {
namespace {

/// "Ulla": tells a store from other databases.
constexpr std::int64_t application_id = 0x556c6c61;

/// steps[i] makes version i + 1 of version i. A step that was released stays as it is.
constexpr std::array steps = {R"(
CREATE TABLE runs(
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  directory TEXT NOT NULL,
  kind TEXT NOT NULL,
  command TEXT NOT NULL,        -- words, each ended by a character 0
  script TEXT NOT NULL,
  started_ms INTEGER NOT NULL,  -- since 1970, UTC
  verdict TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  torch TEXT NOT NULL,
  cuda TEXT NOT NULL,
  python TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  dirty INTEGER,
  configuration TEXT NOT NULL
) STRICT;
CREATE INDEX runs_started ON runs(started_ms);
CREATE INDEX runs_name ON runs(name, started_ms);
CREATE TABLE results(
  run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  changed_ms INTEGER NOT NULL,  -- when the run ended
  run_json BLOB NOT NULL        -- zstd
) STRICT;
CREATE TABLE metrics(
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  name TEXT NOT NULL,
  value INTEGER NOT NULL,
  PRIMARY KEY(run, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE settings(
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  source TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  text TEXT NOT NULL,
  number REAL,
  PRIMARY KEY(run, source, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE phases(
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  step INTEGER NOT NULL,
  micro_batch INTEGER NOT NULL,
  name TEXT NOT NULL,
  allocated INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  peak_allocated INTEGER NOT NULL,
  peak_reserved INTEGER NOT NULL,
  PRIMARY KEY(run, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger_lines(
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  depth INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY(run, position)
) STRICT, WITHOUT ROWID;
)",
                              // 1: the run is known from an imported history alone
                              "ALTER TABLE results ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;"};

std::int64_t version_of(Database& database) {
  return database.number("PRAGMA user_version");
}

Result<void> check_owner(Database& database) {
  // In this order: another process may make the tables meanwhile, and the id comes with them.
  if (database.number("SELECT count(*) FROM sqlite_master") == 0) return {};
  if (database.number("PRAGMA application_id") == application_id) return {};
  if (auto failed = database.error(); !failed) return failed;
  return fail(ErrorKind::io, "this is a database of another program", database.path(), "a store of Ullage",
              "--store FILE or ULLAGE_STORE names another place");
}

Result<void> check_version(Database& database) {
  const std::int64_t version = version_of(database);
  if (version <= schema_version()) return {};
  return fail(ErrorKind::io, fmt::format("the store was written by a newer Ullage (its version is {})", version),
              database.path(), fmt::format("version {} or older", schema_version()),
              "use that Ullage, or another store: --store FILE or ULLAGE_STORE");
}

/// While others switch to it too, SQLite refuses the write-ahead log without waiting.
void use_write_ahead_log(Database& database) {
  for (int i = 0; i < 50; ++i) {
    database.execute("PRAGMA journal_mode = WAL");
    if (database.error() || database.is_damaged()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

int schema_version() {
  return static_cast<int>(steps.size());
}

Result<void> migrate(Database& database) {
  if (auto checked = check_owner(database); !checked) return checked;
  if (auto checked = check_version(database); !checked) return checked;
  if (auto failed = database.error(); !failed) return failed;
  if (version_of(database) == schema_version()) return database.error();
  use_write_ahead_log(database);
  database.execute("BEGIN IMMEDIATE");
  for (std::int64_t version = version_of(database); version < schema_version(); ++version)
    database.execute(steps[static_cast<std::size_t>(version)]);
  database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", application_id, schema_version()));
  return database.error();
}

}  // namespace ullage::store
