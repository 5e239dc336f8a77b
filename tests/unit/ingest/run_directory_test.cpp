// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/run_directory.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "allocator_simulator.hpp"
#include "log_writer.hpp"
#include "marks_writer.hpp"
#include "pickle_writer.hpp"

namespace ullage::ingest {
namespace {

using timeline::Action;
using timeline::AllocatorSimulator;

constexpr std::uint64_t mib = 1 << 20;

// A training loop on the simulated allocator that writes a run directory.
class FakeRun {
 public:
  FakeRun() : path(std::filesystem::temp_directory_path() / ("ullage_run_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  ~FakeRun() { std::filesystem::remove_all(path); }

  // `before` allocations happened before the history began.
  void begin_history(std::uint64_t before) {
    base_ = before;
    marks += test::line("{\"kind\":\"history\",\"device\":0,\"allocs\":" + std::to_string(before) + ",\"frees\":0}");
  }

  void mark(const std::string& name, int step) {
    std::uint64_t allocs = base_, frees = 0;
    for (const Action action : device.timeline.events.action) {
      allocs += action == Action::alloc;
      frees += action == Action::free_requested;
    }
    marks += test::mark(next_mark, name, step, test::counters(allocs, frees, device.counters()));
    log.add(ulog::RecordType::mark, ulog::Mark{static_cast<std::uint32_t>(next_mark), 0});
    ++next_mark;
  }

  void device_bytes(std::uint64_t bytes) {
    log.add(ulog::RecordType::allocate,
            ulog::Memory{1, bytes, static_cast<std::uint32_t>(ulog::MemoryKind::device), 0});
  }

  RunDirectory read(bool with_log = true) {
    device.finish(0);
    marks += test::line(R"({"kind":"end","status":"ok","snapshot":true})");
    log.add(ulog::RecordType::totals, ulog::Totals{0, 0, 0, 0, 0, 300 * mib, 0, 0});
    write("marks.jsonl", marks);
    write("snapshot.pickle", test::snapshot_pickle(device.timeline));
    if (with_log) write("device.ulog", log.text);
    auto run = read_run_directory(path.string());
    EXPECT_TRUE(run) << run.error().what;
    return std::move(*run);
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(path / name, std::ios::binary) << text; }

  std::filesystem::path path;
  AllocatorSimulator device{false};
  std::string marks;
  test::LogWriter log;
  int next_mark = 0;

 private:
  std::uint64_t base_ = 0;
};

std::uint64_t last_address(const FakeRun& run) {
  return run.device.timeline.events.address.back();
}

std::string tensor(const char* tensor_class, const char* state, std::uint64_t address, std::uint64_t bytes) {
  return std::string("[\"") + tensor_class + "\",\"w\",\"" + state + "\",\"float32\"," + std::to_string(address) + "," +
         std::to_string(bytes) + ",null]";
}

void one_step(FakeRun& run) {
  run.begin_history(5);
  run.mark("load_begin", 0);
  run.device.allocate(3 * mib + 100);  // the parameter
  const std::uint64_t parameter = last_address(run);
  run.mark("forward_begin", 1);
  run.device.allocate(30 * mib);
  run.mark("forward_end", 1);
  run.device.allocate(3 * mib + 100);  // its gradient
  const std::uint64_t gradient = last_address(run);
  run.device.allocate(50 * mib);
  run.device.free(3, true);
  run.mark("optimizer_begin", 1);
  run.marks += test::line("{\"kind\":\"tensors\",\"index\":3,\"complete\":[\"parameter\",\"gradient\"],\"tensors\":[" +
                          tensor("parameter", "", parameter, 3 * mib + 100) + "," +
                          tensor("gradient", "", gradient, 3 * mib + 100) + "," +
                          tensor("gradient", "", parameter, 3 * mib + 100) + "," + tensor("gradient", "", 1, 5) + "]}");
  run.device_bytes(500 * mib);
  run.device.free(0, true);
  run.device.empty_cache();
  run.mark("optimizer_end", 1);
  run.mark("run_end", 1);
}

TEST(RunDirectory, JoinsMarksHistoryAndLog) {
  FakeRun files;
  one_step(files);
  const RunDirectory run = files.read();
  EXPECT_TRUE(run.join.joined) << run.join.why_not;
  EXPECT_EQ(run.join.mismatches, 0u);
  EXPECT_FALSE(run.partial) << run.notes.front();
  const auto ledger = ledger::build(run.ledger_input());
  ASSERT_TRUE(ledger);
  EXPECT_TRUE(ledger->exact);
  ASSERT_EQ(ledger->phases.size(), 5u);
  EXPECT_EQ(ledger->phases[2].name, ledger::PhaseName::backward);
  EXPECT_EQ(ledger->phases[2].known_by, ledger::KnownBy::executed);
  EXPECT_EQ(ledger->allocated_peak_phase, 2u);
  EXPECT_EQ(ledger->below_peak, 50 * mib);  // without owners the chart is of the end of the phase
  EXPECT_TRUE(ledger::check(ledger->used).empty());
}

TEST(RunDirectory, AFileThatLinksToItselfIsNoted) {
  for (const char* name : {"device.ulog", "snapshot.pickle", "operators.json.zst"}) {
    FakeRun files;
    one_step(files);
    (void)files.read();
    std::filesystem::remove(files.path / name);
    std::filesystem::create_symlink(name, files.path / name);
    const auto run = read_run_directory(files.path.string());
    ASSERT_TRUE(run);
    EXPECT_TRUE(run->partial);
    EXPECT_NE(run->notes.front().find(name), std::string::npos) << run->notes.front();
  }
}

TEST(RunDirectory, TheLedgerNamesOwnersWithTheirBlocks) {
  FakeRun files;
  one_step(files);
  const RunDirectory run = files.read();
  const auto input = run.ledger_input();
  const auto account = ledger::make_account(input);
  ASSERT_TRUE(account);
  const auto ledger = ledger::build(input, &*account);
  const std::uint64_t tensor = 3 * mib + 100;
  EXPECT_EQ(ledger::find(ledger->used, "parameters")->bytes, tensor);
  EXPECT_EQ(ledger::find(ledger->used, "gradients")->bytes, tensor);
  EXPECT_EQ(ledger::find(ledger->used, "rounding")->bytes, 2u * 412u);
  EXPECT_EQ(ledger::find(ledger->used, "activations")->bytes, 30 * mib);  // never freed: held
  EXPECT_EQ(ledger::find(ledger->used, "temporaries")->bytes, 50 * mib);
  EXPECT_EQ(ledger::find(ledger->used, "context")->bytes, 300 * mib);
  EXPECT_EQ(ledger::find(ledger->used, "reserved")->bytes, ledger->phases[2].reserved);
}

TEST(RunDirectory, WithoutHistoryTheMarksOwnCountersServe) {
  FakeRun files;
  one_step(files);
  RunDirectory run = files.read(false);
  std::filesystem::remove(files.path / "snapshot.pickle");
  run = *read_run_directory(files.path.string());
  EXPECT_TRUE(run.partial);
  EXPECT_FALSE(run.join.joined);
  const auto ledger = ledger::build(run.ledger_input());
  EXPECT_FALSE(ledger->exact);
  EXPECT_EQ(ledger->phases.size(), 5u);
  EXPECT_EQ(ledger->phases[0].known_by, ledger::KnownBy::measured);
  EXPECT_TRUE(ledger::check(ledger->used).empty());
}

TEST(RunDirectory, AHistoryThatDoesNotReachTheMarksIsSaid) {
  FakeRun files;
  one_step(files);
  files.marks += test::mark(9, "run_end", 1, test::counters(1000, 1000, {}));
  const RunDirectory run = files.read();
  EXPECT_FALSE(run.join.joined);
  EXPECT_TRUE(run.partial);
  EXPECT_NE(run.join.why_not, "");
}

TEST(RunDirectory, AMissingDirectoryIsAnIoError) {
  const auto run = read_run_directory("/nonexistent");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::io);
}

TEST(RunDirectory, RandomRunsJoinExactly) {
  EXPECT_TRUE(rc::check("joins", [] {
    FakeRun files;
    files.begin_history(*rc::gen::inRange<std::uint64_t>(0, 100));
    files.mark("load_begin", 0);
    const auto operations =
        *rc::gen::scale(3.0, rc::gen::arbitrary<std::vector<std::pair<std::uint8_t, std::uint8_t>>>());
    for (const auto& [kind, value] : operations) {
      const std::size_t live = files.device.live_count();
      if (kind < 120)
        files.device.allocate(1 + std::uint64_t{value} * 50000);
      else if (kind < 190 && live > 0)
        files.device.free(value % live, true);
      else if (kind < 200)
        files.device.empty_cache();
      else
        files.mark(kind % 2 == 0 ? "forward_begin" : "optimizer_begin", 1);
    }
    files.mark("run_end", 1);
    const RunDirectory run = files.read();
    RC_ASSERT(run.join.joined);
    RC_ASSERT(run.join.mismatches == 0u);
    const auto ledger = ledger::build(run.ledger_input());
    RC_ASSERT(ledger::check(ledger->used).empty());
  }));
}

}  // namespace
}  // namespace ullage::ingest
