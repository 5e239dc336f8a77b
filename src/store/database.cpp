// SPDX-License-Identifier: Apache-2.0
#include "store/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <utility>

namespace ullage::store {
namespace {

constexpr int patience_ms = 10'000;

std::string hint_of(bool damaged, bool full) {
  if (damaged) return "'ullage store rebuild' makes it anew from the run directories";
  return full ? "make room, or choose another place with --store FILE or ULLAGE_STORE" : "";
}

/// Without the log beside it, for which a reader too must write.
std::string unchanging(const std::string& path) {
  std::string name = "file:";
  for (const char c : path) {
    const bool plain = c == '/' || c == '.' || c == '-' || c == '_' || (c >= '0' && c <= '9') ||
                       (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    name += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return name + "?immutable=1";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::check(int code) {
  if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) database_->note(code);
}

Statement& Statement::bind(std::string_view text) {
  const char* data = text.data() == nullptr ? "" : text.data();
  check(sqlite3_bind_text64(statement_.get(), next_++, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  check(sqlite3_bind_int64(statement_.get(), next_++, number));
  return *this;
}

Statement& Statement::bind(std::optional<double> number) {
  if (!number) return bind_null();
  check(sqlite3_bind_double(statement_.get(), next_++, *number));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_.get(), next_++, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_null() {
  check(sqlite3_bind_null(statement_.get(), next_++));
  return *this;
}

bool Statement::step() {
  if (!statement_ || !database_->error_.empty()) return false;
  const int code = sqlite3_step(statement_.get());
  check(code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  if (!statement_) return;
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 1;
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

bool Statement::null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, bool create) {
  sqlite3* connection = nullptr;
  const bool read_only = access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0;
  const int flags =
      read_only ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  const std::string name = read_only ? unchanging(path) : path;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  std::unique_ptr<Database> database(new Database(connection, path));
  if (code != SQLITE_OK) {
    const std::string why = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
    return fail(ErrorKind::io, "the store cannot be opened: " + why, path, {},
                "--store FILE or ULLAGE_STORE names another place");
  }
  sqlite3_busy_timeout(connection, patience_ms);
  return database;
}

Database::~Database() {
  sqlite3_close_v2(connection_);
}

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) note(code);
  return {*this, statement};
}

void Database::execute(const std::string& sql) {
  if (!error_.empty()) return;
  const int code = sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) note(code);
}

std::int64_t Database::number(std::string_view sql) {
  Statement query = prepare(sql);
  return query.step() ? query.number(0) : 0;
}

std::int64_t Database::last_row() const {
  return sqlite3_last_insert_rowid(connection_);
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(connection_);
}

void Database::note(int code) {
  if (!error_.empty()) return;
  error_ = sqlite3_errmsg(connection_);
  const int kind = code & 0xff;
  damaged_ = kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB;
  full_ = kind == SQLITE_FULL;
}

Result<void> Database::error() {
  if (error_.empty()) return {};
  return fail(ErrorKind::io, "the store failed: " + std::exchange(error_, {}), path_, {}, hint_of(damaged_, full_));
}

}  // namespace ullage::store
