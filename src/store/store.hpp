// SPDX-License-Identifier: Apache-2.0
// The store: an index over run directories, in one SQLite file. The directories are the truth.
#pragma once

#include "base/result.hpp"
#include "store/database.hpp"
#include "store/filter.hpp"
#include "store/record.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ullage::store {

/// How a list is sorted; equal runs by when they started, the newest first.
struct Order {
  std::string column = "started";  ///< a column of the list, a metric, or the key of a setting
  bool reverse = false;            ///< else texts begin with the smallest, numbers and times with the largest
};

struct Query {
  Filter filter;
  Order order;
  std::uint64_t limit = 0;           ///< 0: all
  std::vector<std::string> metrics;  ///< wanted beside the summary
  std::vector<std::string> settings;
};

struct Row {
  Summary summary;
  std::vector<std::optional<std::int64_t>> metrics;  ///< as the query names them
  std::vector<std::optional<std::string>> settings;
};

/// True when the file is there and SQLite cannot read it as a database.
[[nodiscard]] bool is_damaged(const std::string& path);

class Store {
 public:
  /// Opens a store, or makes one where there is none and `create` says so. Errors: `io`.
  static Result<Store> open(const std::string& path, bool create);

  /// Adds a run, or replaces the one with its id. All or nothing; others may write meanwhile. Errors: `io`.
  [[nodiscard]] Result<void> put(const Record& record);
  /// The same for many, in one transaction.
  [[nodiscard]] Result<void> put(const std::vector<Record>& records);
  /// False when there is none with this id. Errors: `io`.
  [[nodiscard]] Result<bool> remove(const std::string& id);

  [[nodiscard]] Result<std::vector<Row>> list(const Query& query);
  /// How many there are of a filter, whatever a query's limit.
  [[nodiscard]] Result<std::uint64_t> count(const Filter& filter);

  /// The run with this id; nothing when there is none. Errors: `io`.
  [[nodiscard]] Result<std::optional<Source>> find(const std::string& id);
  /// The id of the run in a directory; empty when there is none.
  [[nodiscard]] Result<std::string> id_of(const std::string& directory);
  /// Runs whose id begins so, or that have this name; the newest first, at most `limit`.
  [[nodiscard]] Result<std::vector<Summary>> with_prefix(const std::string& beginning, std::uint64_t limit);
  [[nodiscard]] Result<std::vector<Summary>> named(const std::string& name, std::uint64_t limit);
  /// Every key that a setting of a run has, in the order of the alphabet.
  [[nodiscard]] Result<std::vector<std::string>> setting_keys();
  /// All ids, the oldest run first.
  [[nodiscard]] Result<std::vector<std::string>> ids();

 private:
  explicit Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  void insert(const Record& record);
  bool is_taken_up_here(const Source& source);
  std::vector<Summary> summaries(Statement query);
  Result<std::vector<std::string>> texts(std::string_view sql);

  std::unique_ptr<Database> database_;
};

}  // namespace ullage::store
