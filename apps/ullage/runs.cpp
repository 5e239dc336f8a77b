// SPDX-License-Identifier: Apache-2.0
// `ullage runs`: the history of runs as a list.
#include "apps/ullage/command.hpp"
#include "apps/ullage/evidence/resolve.hpp"
#include "apps/ullage/history/columns.hpp"
#include "apps/ullage/history/filters.hpp"
#include "apps/ullage/history/location.hpp"
#include "apps/ullage/history/take_in.hpp"
#include "apps/ullage/output.hpp"

#include <fmt/format.h>

namespace ullage::cli {
namespace {

struct Listing {
  std::vector<store::Row> rows;
  std::uint64_t all = 0;  ///< that the filter lets through
};

Result<store::Query> query_of(const Arguments& arguments, const std::vector<RunColumn>& columns) {
  auto filter = filter_of(arguments);
  if (!filter) return tl::unexpected(filter.error());
  const auto key = sort_key(arguments.text("sort").value_or("started"));
  if (!key) return tl::unexpected(key.error());
  store::Query query;
  query.filter = std::move(*filter);
  query.order.column = *key;
  query.order.reverse = arguments.given("reverse");
  query.limit = arguments.count("limit").value_or(0);
  ask_for(columns, query);
  return query;
}

Result<Listing> listing_of(const store::Query& query) {
  auto store = open_history();
  if (!store) return tl::unexpected(store.error());
  if (!*store) return Listing{};
  if (const auto checked = check_settings(**store, query); !checked) return tl::unexpected(checked.error());
  auto rows = (*store)->list(query);
  if (!rows) return tl::unexpected(rows.error());
  return (*store)->count(query.filter).map([&](std::uint64_t all) { return Listing{std::move(*rows), all}; });
}

std::string text_of(const Listing& listing, const std::vector<RunColumn>& columns) {
  if (listing.all == 0)
    return "no runs (of this kind) are in the history; rehearsals come into it by themselves, and 'ullage store "
           "rebuild' takes up those under " +
           runs_directory().string() + "\n";
  std::string text = runs_table(listing.rows, columns);
  if (listing.rows.size() < listing.all)
    text += fmt::format("{} of {} runs; --limit 0 shows all\n", listing.rows.size(), listing.all);
  return text;
}

std::string json_of(const Listing& listing, const std::vector<RunColumn>& columns) {
  JsonWriter json;
  json.begin_result("runs");
  json.field("total", listing.all);
  json.begin_array("runs");
  for (const store::Row& row : listing.rows) write_run(json, row, columns);
  json.end_array();
  json.end_object();
  return json.text();
}

Result<ExitCode> run_runs(const Arguments& arguments) {
  const auto columns = columns_of(arguments.text("columns").value_or(""));
  if (!columns) return tl::unexpected(columns.error());
  const auto query = query_of(arguments, *columns);
  if (!query) return tl::unexpected(query.error());
  return listing_of(*query).and_then([&](const Listing& listing) {
    return print_result(arguments.given("json") ? json_of(listing, *columns) : text_of(listing, *columns)).map([] {
      return ExitCode::yes;
    });
  });
}

constexpr Flag runs_own_flags[] = {
    {"sort", "KEY", "a column to sort by: the newest, the largest, or the first of the alphabet first", FlagKind::text,
     "started"},
    {"reverse", "", "the other way round", FlagKind::toggle},
    {"columns", "NAME[,..]", "what to show: facts, metrics ('ullage check --list'), flags of the script",
     FlagKind::text, "id,name,started,gpu,verdict,peak_allocated,peak_reserved,needed"},
    {"limit", "N", "show the first N; 0 shows all", FlagKind::count, "20"},
    store_flag,
    json_flag,
};
constexpr auto runs_flags = with_filters(runs_own_flags);

}  // namespace

const Command runs_command{
    "runs",
    "the history of runs: what was rehearsed, when, and what it needed",
    "[FLAGS]",
    "Every rehearsal is listed by itself. A column that begins with a dash is a flag of the script:\n"
    "ullage runs --columns id,verdict,--batch,peak_reserved --sort peak_reserved",
    {runs_flags, 0, false},
    run_runs};

}  // namespace ullage::cli
