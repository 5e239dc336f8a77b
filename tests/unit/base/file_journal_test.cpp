// SPDX-License-Identifier: Apache-2.0
#include "base/file_journal.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace ullage {
namespace {

TEST(FileJournal, IsOneLineARecord) {
  EXPECT_EQ(journal_line(FileMark::created, "/a/b"), "C /a/b\n");
  EXPECT_EQ(journal_line(FileMark::deleted, "/a\n\\b"), "D /a\\n\\\\b\n");
}

TEST(FileJournal, LeavesAnUnfinishedLineAndWhatIsNoRecord) {
  std::vector<FileRecord> records;
  const std::string text = "S /one\nwhat is this\n\nN /two\nD /thr";
  EXPECT_EQ(read_journal(text, records), text.size() - 6);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].mark, FileMark::shadowed);
  EXPECT_EQ(records[1].path, "/two");
}

RC_GTEST_PROP(FileJournal, GivesEveryPathBack, (const std::vector<std::string>& names)) {
  std::string text;
  for (const auto& name : names) text += journal_line(FileMark::shadowed, "/" + name);
  std::vector<FileRecord> records;
  RC_ASSERT(read_journal(text, records) == text.size());
  RC_ASSERT(records.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) RC_ASSERT(records[i].path == "/" + names[i]);
}

}  // namespace
}  // namespace ullage
