// SPDX-License-Identifier: Apache-2.0
#include "store/store.hpp"

#include "tests/unit/store/sample.hpp"

#include <gtest/gtest.h>

namespace ullage::store {
namespace {

class StoreTest : public testing::Test {
 protected:
  StoreTest() : store_(Store::open(place_.path(), true).value()) {
    put("a", 1000, sample_json("fits", 4, 3000));
    put("ab", 3000, sample_json("oom", 8, 9000));
    put("b", 2000, sample_json("tight", 16, 6000));
  }

  void put(const std::string& id, std::int64_t started, std::string json) {
    Record record = sample(id, json);
    record.summary.started_ms = started;
    ASSERT_TRUE(store_.put(record));
  }

  std::string ids(const Query& query) {
    std::string text;
    const auto rows = store_.list(query);
    if (!rows) return describe(rows.error());
    for (const Row& row : *rows) text += row.summary.id + " ";
    return text;
  }

  std::string filtered(const Filter& filter) { return ids({filter, {}, 0, {}, {}}); }
  std::string sorted(const std::string& column, bool reverse = false) {
    return ids({{}, {column, reverse}, 0, {}, {}});
  }

  TemporaryStore place_;
  Store store_;
};

TEST_F(StoreTest, gives_back_what_was_put) {
  const auto source = store_.find("ab").value();
  ASSERT_TRUE(source);
  EXPECT_EQ(source->run_json, sample_json("oom", 8, 9000));
  EXPECT_EQ(source->directory, "/runs/ab");
  const auto rows = store_.list({{}, {"id", false}, 1, {"peak_reserved", "missing"}, {"--batch", "--none"}}).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].summary.command, sample("a").summary.command);
  EXPECT_EQ(rows[0].summary.dirty, true);
  EXPECT_EQ(rows[0].metrics, (std::vector<std::optional<std::int64_t>>{3000, std::nullopt}));
  EXPECT_EQ(rows[0].settings, (std::vector<std::optional<std::string>>{"4", std::nullopt}));
}

TEST_F(StoreTest, the_same_id_is_the_same_run) {
  put("a", 5000, sample_json("failed"));
  EXPECT_EQ(store_.count({}), 3u);
  EXPECT_EQ(sorted("started"), "a ab b ");
}

TEST_F(StoreTest, sorts) {
  EXPECT_EQ(sorted("started"), "ab b a ");
  EXPECT_EQ(sorted("started", true), "a b ab ");
  EXPECT_EQ(sorted("id"), "a ab b ");
  EXPECT_EQ(sorted("peak_reserved"), "ab b a ");
  EXPECT_EQ(sorted("--batch"), "a ab b ");  // 4, 8, 16: by number
  EXPECT_EQ(sorted("--batch", true), "b ab a ");
}

TEST_F(StoreTest, filters) {
  EXPECT_EQ(filtered({}), "ab b a ");
  Filter filter;
  filter.verdicts = {"oom", "tight"};
  EXPECT_EQ(filtered(filter), "ab b ");
  filter.since_ms = 2500;
  EXPECT_EQ(filtered(filter), "ab ");
  EXPECT_EQ(store_.count(filter), 1u);
  filter = {};
  filter.until_ms = 2000;
  EXPECT_EQ(filtered(filter), "a ");
  filter = {};
  filter.settings = {{"--batch", "16"}};
  EXPECT_EQ(filtered(filter), "b ");
  filter = {};
  filter.names = {"nobody"};
  EXPECT_EQ(filtered(filter), "");
}

TEST_F(StoreTest, a_script_is_named_by_its_path_or_the_end_of_it) {
  const auto of_script = [&](const char* script) {
    Filter filter;
    filter.script = script;
    return store_.count(filter).value();
  };
  EXPECT_EQ(of_script("dir/train.py"), 3u);
  EXPECT_EQ(of_script("train.py"), 3u);
  EXPECT_EQ(of_script("rain.py"), 0u);
  EXPECT_EQ(of_script("tr*.py"), 3u);
  EXPECT_EQ(of_script("r*.py"), 0u);
}

TEST_F(StoreTest, finds_by_beginning_and_name) {
  const auto beginning = store_.with_prefix("a", 10).value();
  ASSERT_EQ(beginning.size(), 2u);
  EXPECT_EQ(beginning[0].id, "ab");
  EXPECT_EQ(store_.named("train", 1).value().at(0).id, "ab");
  EXPECT_EQ(store_.with_prefix("%", 10).value().size(), 0u);
}

TEST_F(StoreTest, removes_all_of_a_run) {
  EXPECT_EQ(store_.remove("ab"), true);
  EXPECT_EQ(store_.remove("ab"), false);
  EXPECT_FALSE(store_.find("ab").value());
  const auto database = Database::open(place_.path(), false).value();
  for (const char* table : {"results", "metrics", "settings", "phases", "ledger_lines"})
    EXPECT_EQ(database->number(fmt::format("SELECT count(DISTINCT run) FROM {}", table)), 2) << table;
}

TEST_F(StoreTest, many_are_put_together_or_not_at_all) {
  const auto database = Database::open(place_.path(), false).value();
  database->execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON runs WHEN new.id = 'y' BEGIN SELECT raise(FAIL, 'no'); END");
  EXPECT_FALSE(store_.put({sample("x"), sample("y")}));
  EXPECT_EQ(store_.count({}), 3u);
  EXPECT_TRUE(store_.put(sample("x")));
}

TEST_F(StoreTest, another_connection_sees_it_at_once) {
  EXPECT_EQ(Store::open(place_.path(), false).value().count({}), 3u);
}

}  // namespace
}  // namespace ullage::store
