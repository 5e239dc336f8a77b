// SPDX-License-Identifier: Apache-2.0
// SQLite with results instead of codes. A statement's first error stays with its database, so that a chain of calls is
// checked once.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace ullage::store {

class Database;

/// A prepared statement. Parameters are bound in order.
class Statement {
 public:
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(std::optional<double> number);  ///< nothing: NULL
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();

  /// The next row: false at the end, and after an error (Database::error()).
  bool step();
  /// Runs it to its end and makes it ready to be bound again.
  void run();

  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] bool null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  void check(int code);

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
};

/// A connection. Not for several threads at once. Its statements must end before it.
class Database {
 public:
  /// Opens a file, makes it where it is not there and `create` says so. Waits up to ten seconds for other writers. A
  /// file that may not be written is read as it is. Errors: `io`.
  static Result<std::unique_ptr<Database>> open(const std::string& path, bool create);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  [[nodiscard]] Statement prepare(std::string_view sql);
  /// Statements without parameters and results.
  void execute(const std::string& sql);
  /// The single number that a query gives; 0 after an error.
  [[nodiscard]] std::int64_t number(std::string_view sql);
  [[nodiscard]] std::int64_t last_row() const;
  [[nodiscard]] std::int64_t changes() const;

  /// The first error since the last call. Errors: `io`, with the path.
  [[nodiscard]] Result<void> error();
  /// What the file is: damaged, or no database at all.
  [[nodiscard]] bool is_damaged() const { return damaged_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  friend class Statement;
  Database(sqlite3* connection, std::string path) : connection_(connection), path_(std::move(path)) {}
  void note(int code);

  sqlite3* connection_;
  std::string path_;
  std::string error_;
  bool full_ = false;  ///< the first error is a lack of space
  bool damaged_ = false;
};

}  // namespace ullage::store
