// SPDX-License-Identifier: Apache-2.0
#include "launch/file_protection.hpp"

#include "base/file_journal.hpp"
#include "launch/trackers.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

namespace ullage {
namespace {

namespace fs = std::filesystem;

Variables variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
}

bool holds(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class FileProtection : public testing::Test {
 protected:
  FileProtection()
      : folder(fs::canonical(fs::temp_directory_path()) / ("ullage_file_protection_" + std::to_string(getpid()))) {
    fs::remove_all(folder);
    fs::create_directories(folder / "run" / "files");
    fs::create_directories(folder / "work");
  }
  ~FileProtection() override { fs::remove_all(folder); }

  void make(const std::string& name, const std::string& text = "new") const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  void mark(FileMark mark, const std::string& name) const {
    std::ofstream(folder / "run/files/journal", std::ios::app) << journal_line(mark, path(name));
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] std::string run() const { return path("run"); }

  fs::path folder;
};

TEST_F(FileProtection, DevicesCachesAndTheRunAreWritten) {
  const auto list = written_through_folders(
      variables({{"HOME", path("home")}, {"HF_HOME", path("hub")}, {"TRITON_CACHE_DIR", path("t") + "/"}}), run());
  for (const std::string& name : {path("home/.cache"), path("home/.triton"), path("hub"), path("t"), run()})
    EXPECT_TRUE(holds(list, name)) << name;
  for (const char* name : {"/dev", "/proc", "/sys"}) EXPECT_TRUE(holds(list, name)) << name;
  EXPECT_FALSE(holds(list, path("home")));
}

TEST_F(FileProtection, ACacheThatHoldsEverythingIsNotBelieved) {
  const std::string here = fs::current_path().string();
  const auto list = written_through_folders(
      variables({{"HOME", path("home")}, {"HF_HOME", here}, {"XDG_CACHE_HOME", "/"}, {"TORCH_HOME", path("home")}}),
      run());
  EXPECT_FALSE(holds(list, here));
  EXPECT_FALSE(holds(list, "/"));
  EXPECT_FALSE(holds(list, path("home")));
  EXPECT_TRUE(holds(list, here + "/hub")) << "its own folders are still caches";
}

TEST_F(FileProtection, AFolderWithAColonStaysProtected) {
  const auto list = written_through_folders(variables({{"HF_HOME", path("a:b")}}), run());
  EXPECT_TRUE(std::none_of(list.begin(), list.end(), [](const auto& name) { return name.find(':') != name.npos; }));
}

TEST_F(FileProtection, WhatWasTouched) {
  for (const char* name : {"work/new", "work/folder/one", "work/folder/deep/two", "work/written", "work/removed"})
    make(name);
  mark(FileMark::created, "work/new");
  mark(FileMark::created, "work/folder");
  mark(FileMark::created, "work/gone");
  mark(FileMark::shadowed, "work/written");
  mark(FileMark::shadowed, "work/removed");
  mark(FileMark::deleted, "work/removed");
  const auto files = touched_files(run());
  EXPECT_EQ(files.created, (std::vector{path("work/folder/deep/two"), path("work/folder/one"), path("work/new")}));
  EXPECT_EQ(files.overwritten, std::vector{path("work/written")});
  EXPECT_EQ(files.deleted, std::vector{path("work/removed")});
}

TEST_F(FileProtection, CreatedFilesAreTakenBack) {
  for (const char* name : {"work/new", "work/folder/one", "work/kept"}) make(name);
  mark(FileMark::created, "work/new");
  mark(FileMark::created, "work/folder");
  mark(FileMark::created, "work/folder/one");
  mark(FileMark::created, "work/kept");
  mark(FileMark::none, "work/kept");
  EXPECT_TRUE(take_created_files_back(run()).empty());
  EXPECT_FALSE(fs::exists(folder / "work/new"));
  EXPECT_FALSE(fs::exists(folder / "work/folder"));
  EXPECT_TRUE(fs::exists(folder / "work/kept"));
  EXPECT_TRUE(fs::exists(run() + "/files/created" + path("work/folder/one")));
}

TEST_F(FileProtection, ARunWithoutProtectionTouchedNothing) {
  EXPECT_TRUE(touched_files(path("nowhere")).created.empty());
  EXPECT_TRUE(take_created_files_back(path("nowhere")).empty());
}

TEST_F(FileProtection, TheSharedPageIsReal) {
  ASSERT_TRUE(prepare_file_protection(run()));
  EXPECT_EQ(fs::file_size(run() + "/files/state"), 4096u);
  EXPECT_FALSE(prepare_file_protection("/proc/no/such/folder"));
}

TEST(LocalTrackers, SendNothing) {
  const auto changes = local_trackers(variables({{"WANDB_MODE", "online"}, {"TRACKIO_SPACE_ID", "me/space"}}), "/run");
  EXPECT_EQ(changes.at("WANDB_MODE"), "offline");
  EXPECT_EQ(changes.at("WANDB_DIR"), "/run/trackers");
  EXPECT_EQ(changes.at("MLFLOW_TRACKING_URI"), "file:///run/trackers/mlruns");
  EXPECT_EQ(changes.at("TRACKIO_SPACE_ID"), std::nullopt);
  EXPECT_EQ(changes.at("WANDB__DISABLE_META"), "true");  // the command line may hold a secret
  EXPECT_EQ(changes.at("COMET_AUTO_LOG_CLI_ARGUMENTS"), "false");
}

TEST(LocalTrackers, WhatTheUserKeepsLocalIsLeft) {
  const auto changes = local_trackers(
      variables({{"WANDB_MODE", "disabled"}, {"MLFLOW_TRACKING_URI", "sqlite:///mine.db"}, {"COMET_MODE", "DISABLED"}}),
      "/run");
  for (const char* name : {"WANDB_MODE", "MLFLOW_TRACKING_URI", "COMET_MODE"}) EXPECT_FALSE(changes.contains(name));
}

TEST(LocalTrackers, AServerIsReplaced) {
  for (const char* server : {"https://tracking.example", "databricks", "databricks://profile", "http://localhost:5000"})
    EXPECT_TRUE(local_trackers(variables({{"MLFLOW_TRACKING_URI", server}}), "/r").contains("MLFLOW_TRACKING_URI"));
}

}  // namespace
}  // namespace ullage
