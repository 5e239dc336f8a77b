// SPDX-License-Identifier: Apache-2.0
#include "store/schema.hpp"

#include "store/store.hpp"
#include "tests/unit/store/sample.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace ullage::store {
namespace {

TEST(schema, a_new_store_has_the_version_and_the_log) {
  const TemporaryStore place;
  ASSERT_TRUE(Store::open(place.path(), true));
  const auto database = Database::open(place.path(), false).value();
  EXPECT_EQ(database->number("PRAGMA user_version"), schema_version());
  Statement mode = database->prepare("PRAGMA journal_mode");
  ASSERT_TRUE(mode.step());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST(schema, an_older_store_is_brought_up) {
  const TemporaryStore place;
  {
    const auto database = Database::open(place.path(), true).value();
    database->execute("PRAGMA application_id = 0x556c6c61; PRAGMA user_version = 0");
    ASSERT_TRUE(database->error());
  }
  auto store = Store::open(place.path(), false);
  ASSERT_TRUE(store) << describe(store.error());
  EXPECT_TRUE(store->put(sample()));
}

TEST(schema, a_newer_store_is_refused) {
  const TemporaryStore place;
  ASSERT_TRUE(Store::open(place.path(), true));
  Database::open(place.path(), false).value()->execute("PRAGMA user_version = 999");
  const auto store = Store::open(place.path(), true);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().kind, ErrorKind::io);
  EXPECT_NE(store.error().what.find("newer Ullage"), std::string::npos);
  EXPECT_FALSE(is_damaged(place.path()));
}

TEST(schema, a_database_of_another_program_is_left_alone) {
  const TemporaryStore place;
  Database::open(place.path(), true).value()->execute("CREATE TABLE bookmarks(url TEXT)");
  const auto store = Store::open(place.path(), true);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().what.find("another program"), std::string::npos);
  EXPECT_EQ(Database::open(place.path(), false).value()->number("SELECT count(*) FROM sqlite_master"), 1);
}

TEST(schema, a_file_that_is_no_database_is_damaged) {
  const TemporaryStore place;
  std::ofstream(place.path()) << std::string(10'000, 'x');
  const auto store = Store::open(place.path(), true);
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().hint.find("store rebuild"), std::string::npos);
  EXPECT_TRUE(is_damaged(place.path()));
}

}  // namespace
}  // namespace ullage::store
