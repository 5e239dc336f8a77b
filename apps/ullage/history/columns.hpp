// SPDX-License-Identifier: Apache-2.0
// Columns of the list of runs: facts of a run, metrics, settings.
#pragma once

#include "base/text.hpp"
#include "report/json/json_writer.hpp"
#include "store/store.hpp"

#include <string>
#include <vector>

namespace ullage::cli {

enum class ColumnKind : std::uint8_t { fact, metric, setting };

struct RunColumn {
  ColumnKind kind = ColumnKind::fact;
  std::string name;
  std::size_t index = 0;  ///< of a fact among facts, of the others in the row
};

/// Columns that a comma-separated list names, in its order: a fact (id, name, started, kind, verdict, exit_code, gpu,
/// script, torch, cuda, python, commit, directory, command, configuration), a metric, or a setting, which is a word
/// that begins with a dash, is written in capitals, or follows `setting:`. Errors: `usage`, with the nearest names.
[[nodiscard]] Result<std::vector<RunColumn>> columns_of(const std::string& list);

/// What the store must give for them.
void ask_for(const std::vector<RunColumn>& columns, store::Query& query);

/// Errors: `usage` for a setting that no run has, with the nearest that some have; `io`.
[[nodiscard]] Result<void> check_settings(store::Store& store, const store::Query& query);

/// The name by which the store sorts. Errors: as columns_of.
[[nodiscard]] Result<std::string> sort_key(const std::string& word);

[[nodiscard]] std::string runs_table(const std::vector<store::Row>& rows, const std::vector<RunColumn>& columns);

/// A run as an item of a JSON array: all facts, and the metrics and settings of the columns.
void write_run(JsonWriter& json, const store::Row& row, const std::vector<RunColumn>& columns);

/// The commit of a run for people, with a + where there were changes: "3623cac41b+".
[[nodiscard]] std::string commit_text(const store::Summary& run);

/// The facts of a run as fields.
void write_facts(JsonWriter& json, const store::Summary& run);

}  // namespace ullage::cli
