// SPDX-License-Identifier: Apache-2.0
#include "apps/ullage/history/columns.hpp"

#include "store/time.hpp"

#include <algorithm>
#include <array>

namespace ullage::cli {
namespace {

using store::Summary;

std::string command_line(const Summary& run) {
  std::vector<std::string> words;
  for (const std::string& word : run.command) words.push_back(shell_quoted(word));
  return join(words, " ");
}

struct Fact {
  std::string_view name;
  std::string (*text)(const Summary& run);
};

constexpr std::array facts = {
    Fact{"id", [](const Summary& run) { return run.id; }},
    Fact{"name", [](const Summary& run) { return run.name; }},
    Fact{"started", [](const Summary& run) { return store::local_time_text(run.started_ms); }},
    Fact{"kind", [](const Summary& run) { return run.kind; }},
    Fact{"verdict", [](const Summary& run) { return run.verdict; }},
    Fact{"exit_code", [](const Summary& run) { return std::to_string(run.exit_code); }},
    Fact{"gpu", [](const Summary& run) { return run.gpu; }},
    Fact{"script", [](const Summary& run) { return run.script; }},
    Fact{"torch", [](const Summary& run) { return run.torch; }},
    Fact{"cuda", [](const Summary& run) { return run.cuda; }},
    Fact{"python", [](const Summary& run) { return run.python; }},
    Fact{"commit", commit_text},
    Fact{"directory", [](const Summary& run) { return run.directory; }},
    Fact{"command", command_line},
    Fact{"configuration", [](const Summary& run) { return run.configuration; }},
};

bool is_setting(const std::string& word) {
  return word.starts_with('-') || std::ranges::any_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
}

Result<RunColumn> column_of(const std::string& word) {
  constexpr std::string_view prefix = "setting:";
  const auto fact = std::ranges::find(facts, word, &Fact::name);
  if (fact != facts.end()) return RunColumn{ColumnKind::fact, word, static_cast<std::size_t>(fact - facts.begin())};
  if (word.starts_with(prefix)) return RunColumn{ColumnKind::setting, word.substr(prefix.size()), 0};
  if (is_setting(word)) return RunColumn{ColumnKind::setting, word, 0};
  if (store::find_metric(word)) return RunColumn{ColumnKind::metric, word, 0};
  std::vector<std::string_view> names;
  for (const Fact& one : facts) names.push_back(one.name);
  for (const auto& metric : store::metrics()) names.push_back(metric.name);
  std::string hint = suggestion(word, names);
  if (hint.empty()) hint = "a setting that looks like this is 'setting:" + word + "'";
  return fail(ErrorKind::usage, "unknown column", "'" + word + "'",
              "id, name, started, gpu, verdict ..., a metric ('ullage check --list'), or a flag of the script", hint);
}

std::string cell(const store::Row& row, const RunColumn& column) {
  if (column.kind == ColumnKind::fact) return facts[column.index].text(row.summary);
  if (column.kind == ColumnKind::setting) return row.settings[column.index].value_or("");
  const auto& value = row.metrics[column.index];
  return value ? store::value_text(*store::find_metric(column.name), *value) : "";
}

void text_field(JsonWriter& json, std::string_view name, const std::string& value) {
  if (!value.empty()) json.field(name, std::string_view(value));
}

}  // namespace

std::string commit_text(const Summary& run) {
  constexpr std::size_t shown = 10;
  return run.commit.substr(0, shown) + (run.dirty.value_or(false) ? "+" : "");
}

Result<std::vector<RunColumn>> columns_of(const std::string& list) {
  std::vector<RunColumn> columns;
  std::size_t metrics = 0, settings = 0;
  for (const std::string& word : split(list, ',')) {
    auto column = column_of(word);
    if (!column) return tl::unexpected(column.error());
    if (column->kind == ColumnKind::metric) column->index = metrics++;
    if (column->kind == ColumnKind::setting) column->index = settings++;
    columns.push_back(std::move(*column));
  }
  return columns;
}

void ask_for(const std::vector<RunColumn>& columns, store::Query& query) {
  for (const RunColumn& column : columns) {
    if (column.kind == ColumnKind::metric) query.metrics.push_back(column.name);
    if (column.kind == ColumnKind::setting) query.settings.push_back(column.name);
  }
}

Result<void> check_settings(store::Store& store, const store::Query& query) {
  std::vector<std::string> asked = query.settings;
  for (const auto& [key, value] : query.filter.settings) asked.push_back(key);
  if (is_setting(query.order.column)) asked.push_back(query.order.column);
  if (asked.empty()) return {};
  const auto keys = store.setting_keys();
  if (!keys) return tl::unexpected(keys.error());
  for (const std::string& key : asked) {
    if (std::ranges::find(*keys, key) != keys->end()) continue;
    const std::vector<std::string_view> names(keys->begin(), keys->end());
    return fail(ErrorKind::usage, "no run has this setting", "'" + key + "'", {}, suggestion(key, names));
  }
  return {};
}

Result<std::string> sort_key(const std::string& word) {
  return column_of(word).map([](const RunColumn& column) { return column.name; });
}

std::string runs_table(const std::vector<store::Row>& rows, const std::vector<RunColumn>& columns) {
  std::vector<Table::Column> titles;
  for (const RunColumn& column : columns)
    titles.push_back({column.name, column.kind == ColumnKind::metric ? Align::right : Align::left});
  Table table(std::move(titles));
  for (const store::Row& row : rows) {
    std::vector<std::string> cells;
    for (const RunColumn& column : columns) cells.push_back(cell(row, column));
    table.add(std::move(cells));
  }
  return table.text();
}

void write_facts(JsonWriter& json, const Summary& run) {
  text_field(json, "id", run.id);
  text_field(json, "name", run.name);
  text_field(json, "kind", run.kind);
  json.field("started", std::string_view(store::time_text(run.started_ms)));
  text_field(json, "directory", run.directory);
  json.begin_array("script");
  for (const std::string& word : run.command) json.item(std::string_view(word));
  json.end_array();
  text_field(json, "verdict", run.verdict);
  json.field("exit_code", run.exit_code);
  text_field(json, "gpu", run.gpu);
  text_field(json, "torch", run.torch);
  text_field(json, "cuda", run.cuda);
  text_field(json, "python", run.python);
  text_field(json, "commit", run.commit);
  if (run.dirty) json.field("dirty", *run.dirty);
  text_field(json, "configuration", run.configuration);
}

void write_run(JsonWriter& json, const store::Row& row, const std::vector<RunColumn>& columns) {
  json.begin_object();
  write_facts(json, row.summary);
  json.begin_object("metrics");
  for (const RunColumn& column : columns)
    if (column.kind == ColumnKind::metric && row.metrics[column.index])
      json.field(column.name, *row.metrics[column.index]);
  json.end_object();
  json.begin_object("settings");
  for (const RunColumn& column : columns)
    if (column.kind == ColumnKind::setting && row.settings[column.index])
      json.field(column.name, std::string_view(*row.settings[column.index]));
  json.end_object();
  json.end_object();
}

}  // namespace ullage::cli
