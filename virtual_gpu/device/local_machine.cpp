// SPDX-License-Identifier: Apache-2.0
// LocalMachine: who owns the run, streams and events, captures, marks.
#include "virtual_gpu/device/local_machine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <new>
#include <string>
#include <utility>

namespace ullage::vgpu {
namespace {

thread_local std::string thread_line;
thread_local std::string read_line;  // of the last copy to the host: the wait that follows is its own

cost::Rates rates_of(const Profile& profile) {
  return {profile.memory_bandwidth, profile.fp16_flops, profile.pcie_bandwidth};
}

/// Creates `path` for this process alone; false when another process was first.
bool create_exclusively(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const std::string pid = std::to_string(getpid()) + "\n";
  const bool written = write(file, pid.data(), pid.size()) == static_cast<ssize_t>(pid.size());
  close(file);
  return written;
}

}  // namespace

LocalMachine::LocalMachine(MachineOptions options)
    : options_(std::move(options)),
      backing_(options_.base, options_.window),
      memory_(options_.profile, backing_),
      cost_(rates_of(options_.profile)) {
  pid_ = getpid();
  if (options_.run_directory.empty()) log_.disable();
}

void LocalMachine::set_thread_line(std::string line) {
  thread_line = std::move(line);
}

void LocalMachine::set_read_line(const std::string& line) {
  read_line = line;
}

std::string LocalMachine::line_of_wait() {
  std::string line = std::exchange(thread_line, {});
  if (line.empty()) line = std::exchange(read_line, {});
  return line;
}

std::string LocalMachine::current_line() const {
  if (!thread_line.empty()) return std::exchange(thread_line, {});
  const LineCallback callback = line_callback_;
  if (!callback) return {};
  char text[1024];
  return {text, callback(text, sizeof(text))};
}

// A limit on the address space (ulimit -v) leaves no room for a device; the launcher says so.
void LocalMachine::refuse_without_addresses() const {
  const int file = open((options_.run_directory + "/no_address_space").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
}

// The first process that takes device memory owns the run; the others only leave a note of what they took.
void LocalMachine::claim_run() {
  if (claimed_ || options_.run_directory.empty()) return;
  claimed_ = true;
  if (!backing_.reserved()) refuse_without_addresses();
  owns_run_ = create_exclusively(options_.run_directory + "/owner");
  if (owns_run_)
    log_.open(options_.run_directory + "/device.ulog");
  else
    log_.disable();
}

StreamId LocalMachine::create_stream(std::uint32_t flags, int priority) {
  const Lock lock(mutex_);
  return streams_.create(flags, priority);
}

Status LocalMachine::destroy_stream(StreamId stream) {
  const Lock lock(mutex_);
  return streams_.destroy(stream);
}

Status LocalMachine::stream_properties(StreamId stream, std::uint32_t* flags, int* priority) const {
  const Lock lock(mutex_);
  return streams_.properties(stream, flags, priority);
}

Status LocalMachine::query_stream(StreamId stream) {
  const Lock lock(mutex_);
  streams_.advance();
  return streams_.query(stream);
}

void LocalMachine::log_sync(const char* function, StreamId stream, std::uint64_t waited, const std::string& line) {
  log_.add(
      ulog::RecordType::sync, streams_.now(),
      ulog::Sync{log_.static_name(NameKind::function, function), stream, log_.name(NameKind::line, line), 0, waited});
}

// No callback into Python here: PyTorch calls these with its allocator's lock held. The hook names the line before.
Status LocalMachine::synchronize_stream(StreamId stream, const char* function) {
  const std::string line = line_of_wait();
  if (ActivityObserver* profiler = observer(); profiler != nullptr) profiler->wait_for_stream(stream);
  const Lock lock(mutex_);
  streams_.advance();
  std::uint64_t waited = 0;
  const Status status = streams_.synchronize(stream, &waited);
  if (status == Status::ok) log_sync(function, stream, waited, line);
  return status;
}

Status LocalMachine::synchronize_device(const char* function) {
  const std::string line = line_of_wait();
  if (ActivityObserver* profiler = observer(); profiler != nullptr) profiler->wait_for_device();
  const Lock lock(mutex_);
  streams_.advance();
  std::uint64_t waited = 0;
  const Status status = streams_.synchronize_device(&waited);
  if (status == Status::ok) log_sync(function, UINT32_MAX, waited, line);
  return status;
}

Status LocalMachine::wait_event(StreamId stream, EventId event) {
  const Lock lock(mutex_);
  if (ActivityObserver* profiler = observer(); profiler != nullptr) profiler->wait_event(stream, event);
  streams_.advance();
  return streams_.wait(stream, event);
}

EventId LocalMachine::create_event(std::uint32_t flags) {
  const Lock lock(mutex_);
  return streams_.create_event(flags, new_handle());
}

Status LocalMachine::destroy_event(EventId event) {
  const Lock lock(mutex_);
  return streams_.destroy_event(event);
}

Status LocalMachine::record_event(EventId event, StreamId stream) {
  const Lock lock(mutex_);
  if (ActivityObserver* profiler = observer(); profiler != nullptr) profiler->record_event(event, stream);
  streams_.advance();
  return streams_.record(event, stream);
}

Status LocalMachine::query_event(EventId event) {
  const Lock lock(mutex_);
  streams_.advance();
  return streams_.query_event(event);
}

Status LocalMachine::synchronize_event(EventId event, const char* function) {
  const std::string line = line_of_wait();
  if (ActivityObserver* profiler = observer(); profiler != nullptr) profiler->wait_for_event(event);
  const Lock lock(mutex_);
  streams_.advance();
  std::uint64_t waited = 0;
  const Status status = streams_.synchronize_event(event, &waited);
  if (status == Status::ok && waited > 0) log_sync(function, UINT32_MAX, waited, line);
  return status;
}

Status LocalMachine::elapsed_ms(EventId start, EventId end, float* ms) {
  const Lock lock(mutex_);
  return streams_.elapsed_ms(start, end, ms);
}

Status LocalMachine::begin_capture(StreamId stream, int /*mode*/, std::uint64_t graph) {
  const Lock lock(mutex_);
  return streams_.begin_capture(stream, graph);
}

Status LocalMachine::end_capture(StreamId stream, std::uint64_t* graph) {
  const Lock lock(mutex_);
  return streams_.end_capture(stream, graph);
}

CaptureState LocalMachine::capture_state(StreamId stream, std::uint64_t* capture_id, std::uint64_t* graph) const {
  const Lock lock(mutex_);
  return streams_.capture_state(stream, capture_id, graph);
}

std::uint64_t LocalMachine::graph_node_count(std::uint64_t graph) const {
  const Lock lock(mutex_);
  std::uint64_t nodes = 0;
  streams_.graph(graph, nullptr, &nodes);
  return nodes;
}

std::uint64_t LocalMachine::new_handle() {
  return next_handle_.fetch_add(1) << 8 | (0x7ab2ull << 32);
}

void LocalMachine::use_workspace(const char* purpose, const WorkspaceRange& range) {
  if (range.high == 0) return;
  const Lock lock(mutex_);
  log_.add(ulog::RecordType::workspace, streams_.now(),
           ulog::Workspace{range.likely, range.low, range.high, log_.static_name(NameKind::function, purpose), 0});
}

void LocalMachine::count_stub(const char* library, const char* function) {
  const Lock lock(mutex_);
  ++stub_calls_[{library, function}];
}

std::uint64_t LocalMachine::host_time_ns() {
  const Lock lock(mutex_);
  return streams_.now();
}

void LocalMachine::mark(std::uint32_t index) {
  const Lock lock(mutex_);
  log_.add(ulog::RecordType::mark, streams_.now(), ulog::Mark{index, 0});
  repeated_.mark();
}

std::uint64_t LocalMachine::device_peak_bytes() const {
  const Lock lock(mutex_);
  return memory_.peak();
}

void LocalMachine::write_totals() {
  for (const auto& [key, calls] : stub_calls_)
    log_.add(ulog::RecordType::stub_calls, streams_.now(),
             ulog::StubCalls{log_.static_name(NameKind::function, key.second),
                             log_.static_name(NameKind::library, key.first), calls});
  log_.add(ulog::RecordType::totals, streams_.now(),
           ulog::Totals{memory_.charged(), memory_.peak(), host_.bytes(), host_.peak(), memory_.managed(),
                        options_.profile.context_bytes, launches_, log_.dropped()});
}

void LocalMachine::write_other_process() const {
  if (!claimed_ || memory_.peak() == 0) return;
  const std::string path = options_.run_directory + "/process-" + std::to_string(pid_) + ".txt";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  const std::string text = std::to_string(memory_.peak()) + "\n";
  if (write(file, text.data(), text.size()) < 0) unlink(path.c_str());
  close(file);
}

void LocalMachine::close_log() {
  flush_log();
  const Lock lock(mutex_);
  log_.disable();
}

void LocalMachine::after_fork() {
  // The lock may be held by a thread that this process does not have; nobody else runs here yet.
  new (&mutex_) std::mutex;
  if (claimed_) {
    log_.forget();
    owns_run_ = false;
  } else {
    pid_ = getpid();
  }
}

void LocalMachine::flush_log() {
  const Lock lock(mutex_);
  if (getpid() != pid_) return;
  if (!owns_run_) {
    write_other_process();
    return;
  }
  write_totals();
  log_.flush();
}

}  // namespace ullage::vgpu
