// SPDX-License-Identifier: Apache-2.0
// The decisions of the protection of files, without libc's functions replaced.
#include "virtual_gpu/files/copy.hpp"
#include "virtual_gpu/files/marks.hpp"
#include "virtual_gpu/files/resolve.hpp"
#include "virtual_gpu/files/route.hpp"
#include "virtual_gpu/files/store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ullage::files {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void make(const fs::path& path, const std::string& text = "old") {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(Marks, TheLastRecordHolds) {
  Marks marks;
  marks.apply({FileMark::created, "/a"});
  marks.apply({FileMark::shadowed, "/b/c"});
  marks.apply({FileMark::none, "/b/c"});
  EXPECT_EQ(marks.of("/a"), FileMark::created);
  EXPECT_EQ(marks.of("/b/c"), FileMark::none);
}

TEST(Marks, WhatLiesInACreatedFolderIsCreated) {
  Marks marks;
  marks.apply({FileMark::created, "/a/new"});
  EXPECT_TRUE(marks.created("/a/new/deep/file"));
  EXPECT_FALSE(marks.created("/a/newer"));
  EXPECT_FALSE(marks.created("/a"));
}

TEST(Paths, WrittenThrough) {
  EXPECT_TRUE(written_through("/dev/null", "/dev:/proc"));
  EXPECT_TRUE(written_through("/proc", "/dev:/proc"));
  EXPECT_FALSE(written_through("/device", "/dev:/proc"));
  EXPECT_FALSE(written_through("/a", ""));
  EXPECT_FALSE(written_through("/a", "::"));
  EXPECT_TRUE(written_through("/a/__pycache__/b.pyc", ""));
  EXPECT_FALSE(written_through("/a/__pycache__x/b.pyc", ""));
}

TEST(Paths, Databases) {
  EXPECT_EQ(database_of("/a/b.db-wal"), "/a/b.db");
  EXPECT_EQ(database_of("/a/b.db"), "");
}

TEST(Paths, Parents) {
  EXPECT_EQ(parent_of("/a/b"), "/a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_TRUE(lies_in("/a/b", "/a/"));
  EXPECT_TRUE(lies_in("/a", "/"));
}

/// One process is one rehearsal: what the environment says is read once. Each test has a folder of its own.
class Files : public testing::Test {
 protected:
  Files() : folder(root() / testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(folder);
    EXPECT_TRUE(active());
  }

  static fs::path root() {
    static const fs::path made = [] {
      const fs::path path = fs::canonical(fs::temp_directory_path()) / ("ullage_files_" + std::to_string(getpid()));
      fs::create_directories(path);
      setenv("ULLAGE_FILES_DIR", (path / "run").c_str(), 1);
      setenv("ULLAGE_FILES_THROUGH", ("/dev:/proc:" + (path / "cache").string()).c_str(), 1);
      return path;
    }();
    return made;
  }
  static void TearDownTestSuite() { fs::remove_all(root()); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] Route open(const std::string& name, int flags) const {
    Route route = route_open(AT_FDCWD, path(name).c_str(), flags);
    if (route.error == 0) {
      const std::string to = route.path.empty() ? path(name) : route.path;
      if ((flags & O_CREAT) != 0 && !fs::exists(to)) make(to, "made");
      succeeded(route);
    }
    return route;
  }
  [[nodiscard]] FileMark mark(const std::string& name) const { return Store().marks().of(path(name)); }
  [[nodiscard]] Place place(const std::string& name, bool follow = true) const {
    const Store store;
    return resolve(store.marks(), AT_FDCWD, path(name).c_str(), follow);
  }
  [[nodiscard]] std::string seen(const std::string& name) const { return content(place(name).physical); }

  fs::path folder;
};

TEST_F(Files, AFileThatWasThereIsWrittenInTheShadow) {
  make(folder / "a");
  const Route route = open("a", O_RDWR);
  EXPECT_EQ(route.path, Store::shadow_of(path("a")));
  EXPECT_EQ(content(route.path), "old");
  std::ofstream(route.path) << "new";
  EXPECT_EQ(seen("a"), "new");
  EXPECT_EQ(content(folder / "a"), "old");
  EXPECT_EQ(open("a", O_WRONLY | O_APPEND).path, route.path) << "once copied";
  EXPECT_EQ(seen("a"), "new");
}

TEST_F(Files, TruncatedFilesAreNotCopied) {
  make(folder / "a");
  EXPECT_EQ(content(open("a", O_WRONLY | O_CREAT | O_TRUNC).path), "");
}

TEST_F(Files, ReadingChangesNothing) {
  make(folder / "a");
  EXPECT_TRUE(open("a", O_RDONLY).path.empty());
  EXPECT_EQ(mark("a"), FileMark::none);
}

TEST_F(Files, ANewFileIsWhereTheScriptPutsIt) {
  EXPECT_TRUE(open("new", O_WRONLY | O_CREAT).path.empty());
  EXPECT_EQ(mark("new"), FileMark::created);
  EXPECT_TRUE(open("new", O_WRONLY | O_TRUNC).path.empty()) << "its own";
  EXPECT_TRUE(route_unlink(AT_FDCWD, path("new").c_str()).records);
}

TEST_F(Files, ACacheIsWrittenThrough) {
  const std::string blob = (root() / "cache/blob").string();
  make(blob);
  EXPECT_TRUE(route_open(AT_FDCWD, blob.c_str(), O_WRONLY).path.empty());
  EXPECT_FALSE(route_unlink(AT_FDCWD, blob.c_str()).done);
}

TEST_F(Files, ADeletedFileIsThereButNotSeen) {
  make(folder / "a");
  EXPECT_TRUE(route_unlink(AT_FDCWD, path("a").c_str()).done);
  EXPECT_TRUE(fs::exists(folder / "a"));
  EXPECT_EQ(route_read(AT_FDCWD, path("a").c_str(), true).error, ENOENT);
  EXPECT_EQ(route_unlink(AT_FDCWD, path("a").c_str()).error, ENOENT);
  EXPECT_EQ(open("a", O_WRONLY).error, ENOENT);
  EXPECT_EQ(open("a", O_WRONLY | O_CREAT | O_EXCL).path, Store::shadow_of(path("a"))) << "made again";
  EXPECT_EQ(seen("a"), "made");
}

TEST_F(Files, ALinkLeadsToTheFileBehindIt) {
  make(folder / "deep/a");
  fs::create_symlink("deep", folder / "short");
  fs::create_symlink("short/a", folder / "latest");
  EXPECT_EQ(open("latest", O_WRONLY).path, Store::shadow_of(path("deep/a")));
  EXPECT_EQ(place("short/../deep/./a").path, path("deep/a"));
  EXPECT_EQ(place("latest", false).path, path("latest"));
}

TEST_F(Files, LoopsEnd) {
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_EQ(place("a").error, ELOOP);
}

TEST_F(Files, ALinkOfTheKernelLeadsToItsFile) {
  make(folder / "a");
  const int reader = ::open(path("a").c_str(), O_RDONLY);
  const std::string link = "/proc/self/fd/" + std::to_string(reader);
  EXPECT_EQ(route_open(AT_FDCWD, link.c_str(), O_WRONLY).path, Store::shadow_of(path("a")));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Route route = route_open(AT_FDCWD, ("/proc/self/fd/" + std::to_string(ends[1])).c_str(), O_WRONLY | O_CREAT);
  EXPECT_TRUE(route.path.empty() && !route.records && route.error == 0);
  for (const int fd : {reader, ends[0], ends[1]}) ::close(fd);
}

TEST_F(Files, ARelativePathBeginsAtItsFolder) {
  make(folder / "a");
  const int descriptor = ::open(folder.c_str(), O_RDONLY);
  EXPECT_EQ(route_open(descriptor, "a", O_WRONLY).path, Store::shadow_of(path("a")));
  ::close(descriptor);
}

Route rename(const std::string& from, const std::string& to, unsigned flags = 0) {
  return route_rename(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), flags);
}

TEST_F(Files, RenamedOverAFileThatWasThere) {
  make(folder / "a");
  (void)open("new", O_WRONLY | O_CREAT);
  EXPECT_TRUE(rename(path("new"), path("a")).done);
  EXPECT_EQ(seen("a"), "made");
  EXPECT_EQ(content(folder / "a"), "old");
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_EQ(mark("new"), FileMark::none);
}

TEST_F(Files, AFileThatWasThereIsCopiedWhenRenamed) {
  make(folder / "a");
  EXPECT_TRUE(rename(path("a"), path("b")).done);
  EXPECT_TRUE(fs::exists(folder / "a"));
  EXPECT_EQ(content(folder / "b"), "old");
  EXPECT_EQ(mark("b"), FileMark::created);
  EXPECT_EQ(place("a").type, 0u);
  EXPECT_TRUE(rename(path("b"), path("a")).done) << "and back";
  EXPECT_EQ(seen("a"), "old");
}

TEST_F(Files, RenameFailsAsTheRealOne) {
  make(folder / "a");
  make(folder / "b");
  make(folder / "folder/c");
  EXPECT_EQ(rename(path("none"), path("b")).error, ENOENT);
  EXPECT_EQ(rename(path("a"), path("folder")).error, EISDIR);
  EXPECT_EQ(rename(path("a"), path("b"), 1 /* RENAME_NOREPLACE */).error, EEXIST);
  EXPECT_EQ(rename(path("a"), path("b"), 2 /* RENAME_EXCHANGE */).error, EINVAL);
  EXPECT_EQ(rename(path("folder"), path("elsewhere")).error, EXDEV);
}

TEST_F(Files, AFolderThatWasEmptiedLooksRemoved) {
  make(folder / "f/a");
  EXPECT_EQ(route_rmdir(AT_FDCWD, path("f").c_str()).error, ENOTEMPTY);
  EXPECT_TRUE(route_unlink(AT_FDCWD, path("f/a").c_str()).done);
  EXPECT_TRUE(route_rmdir(AT_FDCWD, path("f").c_str()).done);
  EXPECT_TRUE(fs::exists(folder / "f/a"));
  EXPECT_EQ(open("f/b", O_WRONLY | O_CREAT).error, ENOENT);
  EXPECT_TRUE(route_mkdir(AT_FDCWD, path("f/").c_str()).done);
  EXPECT_EQ(open("f/b", O_WRONLY | O_CREAT).error, 0);
}

TEST_F(Files, AJournalOfAShadowedDatabaseIsInTheShadow) {
  make(folder / "a.db");
  (void)open("a.db", O_RDWR);
  EXPECT_EQ(open("a.db-journal", O_RDWR | O_CREAT).path, Store::shadow_of(path("a.db-journal")));
  EXPECT_FALSE(fs::exists(folder / "a.db-journal"));
}

TEST_F(Files, ModesOfExistingFilesStay) {
  make(folder / "a");
  EXPECT_TRUE(route_change(AT_FDCWD, path("a").c_str(), true).done);
  EXPECT_FALSE(route_change(AT_FDCWD, path("none").c_str(), true).done);
}

TEST_F(Files, ACopyKeepsHolesModeAndTimes) {
  make(folder / "a");
  fs::resize_file(folder / "a", 10 << 20);
  fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(copy_file(path("a"), path("b")), 0);
  struct stat from, to;
  ASSERT_EQ(stat(path("a").c_str(), &from) + stat(path("b").c_str(), &to), 0);
  EXPECT_EQ(from.st_size, to.st_size);
  EXPECT_EQ(from.st_mode, to.st_mode);
  EXPECT_EQ(from.st_mtim.tv_nsec, to.st_mtim.tv_nsec);
  EXPECT_LE(to.st_blocks, from.st_blocks);
  EXPECT_EQ(content(path("a")), content(path("b")));
  EXPECT_EQ(copy_file(path("a"), path("b")), EEXIST);
}

}  // namespace
}  // namespace ullage::files
