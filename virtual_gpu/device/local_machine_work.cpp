// SPDX-License-Identifier: Apache-2.0
// LocalMachine: transfers, kernels, library calls. What is small is really done, the rest only takes time.
#include <algorithm>
#include <cstring>

#include "virtual_gpu/device/evaluate.hpp"
#include "virtual_gpu/device/local_machine.hpp"

namespace ullage::vgpu {
namespace {

constexpr std::uint64_t real_limit = 64 << 10;   // bytes up to which transfers and fills are real
constexpr std::uint64_t upload_limit = 1 << 20;  // of copies to the device: a batch's token numbers and masks

thread_local std::int64_t next_answer = -1;
thread_local int settled_by_caller = 0;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

void repeat(void* destination, const void* value, std::uint32_t value_bytes, std::uint64_t count) {
  auto* out = static_cast<char*>(destination);
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(out + i * value_bytes, value, value_bytes);
}

std::uint64_t product(const std::uint32_t (&v)[3]) {
  return std::uint64_t{v[0]} * v[1] * v[2];
}

/// The kernel of a matrix product, for a profiler, by the cudaDataType of its operands.
const char* gemm_name(std::uint32_t type) {
  switch (type) {
    case 0:
      return "simulated_gemm_fp32";
    case 1:
      return "simulated_gemm_fp64";
    case 2:
      return "simulated_gemm_fp16";
    case 14:
      return "simulated_gemm_bf16";
    case 28:
    case 29:
      return "simulated_gemm_fp8";
    default:
      return "simulated_gemm";
  }
}

}  // namespace

Interval LocalMachine::run(const Work& work, StreamId stream) {
  streams_.advance();
  return streams_.submit(cost_.duration_ns(work), stream);
}

// Work that a capture takes up is not done yet.
void LocalMachine::tell_kernel(const KernelActivity& kernel, Interval interval, StreamId stream) {
  ActivityObserver* profiler = observer();
  if (profiler != nullptr && interval.end_ns > interval.start_ns)
    profiler->kernel(kernel, interval.end_ns - interval.start_ns, stream);
}

Interval LocalMachine::submit(const Work& work, StreamId stream, const char* name) {
  const Lock lock(mutex_);
  const Interval interval = run(work, stream);
  tell_kernel({name}, interval, stream);
  return interval;
}

LocalMachine::Transfer LocalMachine::describe(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes,
                                              StreamId stream) const {
  const bool to_device = backing_.contains(destination);
  const bool from_device = backing_.contains(source);
  Transfer transfer{destination, source, bytes, Direction::host_to_host, false, stream};
  if (to_device && from_device)
    transfer.direction = Direction::device_to_device;
  else if (to_device)
    transfer.direction = Direction::host_to_device;
  else if (from_device)
    transfer.direction = Direction::device_to_host;
  const std::uint64_t host_side = to_device ? source : destination;
  transfer.pinned = host_.find(host_side).kind == PointerInfo::Kind::host;
  return transfer;
}

bool LocalMachine::is_known(std::uint64_t address, std::uint64_t bytes) const {
  const Lock lock(mutex_);
  return known_.is_known(address, bytes);
}

void LocalMachine::set_known(std::uint64_t address, std::uint64_t bytes, bool known) {
  const Lock lock(mutex_);
  if (!backing_.contains(address)) return;
  if (known)
    known_.set_known(address, bytes);
  else
    known_.set_unknown(address, bytes);
}

void LocalMachine::settle_here(bool on) {
  settled_by_caller += on ? 1 : -1;
}  // calls nest

void LocalMachine::answer_next_read(std::int64_t value) {
  next_answer = value;
}

// PyTorch reads the size of a result as an int or a long; the hook may know it.
bool LocalMachine::answer(void* destination, std::uint64_t bytes) {
  if (next_answer < 0 || (bytes != 4 && bytes != 8)) return false;
  std::memcpy(destination, &next_answer, bytes);
  next_answer = -1;
  return true;
}

void LocalMachine::move(const Transfer& t, bool* unknown) {
  const bool from_device = backing_.contains(t.source);
  const bool to_device = backing_.contains(t.destination);
  if (from_device && !to_device && answer(pointer(t.destination), t.bytes)) return;
  const bool known = !from_device || known_.is_known(t.source, t.bytes);
  *unknown = !known && !to_device;
  const std::uint64_t limit = from_device ? real_limit : upload_limit;
  const bool real = known && (t.bytes <= limit || !(from_device || to_device));
  if (real)
    std::memmove(pointer(t.destination), pointer(t.source), t.bytes);
  else if (!to_device)
    std::memset(pointer(t.destination), 0, t.bytes);
  if (!to_device) return;
  if (real)
    known_.set_known(t.destination, t.bytes);
  else
    known_.set_unknown(t.destination, t.bytes);
}

std::uint32_t LocalMachine::flags_of(const Transfer& transfer) {
  return (transfer.pinned ? ulog::copy_pinned : 0U) | (transfer.repeated ? ulog::copy_repeated : 0U);
}

void LocalMachine::log_transfer(ulog::RecordType type, const Transfer& t, Interval interval, const std::string& line) {
  log_.add(type, streams_.now(),
           ulog::Copy{t.destination, t.source, t.bytes, static_cast<std::uint32_t>(t.direction), flags_of(t), t.stream,
                      log_.name(NameKind::line, line), interval.start_ns, interval.end_ns});
}

Status LocalMachine::copy(void* destination, const void* source, std::uint64_t bytes, StreamId stream, bool blocking) {
  if (bytes == 0) return Status::ok;
  const auto to = reinterpret_cast<std::uint64_t>(destination);
  const auto from = reinterpret_cast<std::uint64_t>(source);
  // Asked before the lock is taken: the callback needs Python's lock.
  const bool crosses = backing_.contains(to) != backing_.contains(from);
  const std::string line = crosses && log_.enabled() ? current_line() : std::string();
  if (backing_.contains(from)) set_read_line(line);
  // A copy between pageable memory and the device, and every read by the host, holds the host until it is done.
  const bool from_device = backing_.contains(from), to_device = backing_.contains(to);
  const bool waits = from_device ? !to_device : blocking;
  const Status status = copy_now(to, from, bytes, stream, waits, line);
  if (ActivityObserver* profiler = observer(); profiler != nullptr && waits) profiler->wait_for_stream(stream);
  return status;
}

Status LocalMachine::copy_now(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, StreamId stream, bool waits,
                              const std::string& line) {
  const Lock lock(mutex_);
  for (const std::uint64_t side : {to, from})
    if (backing_.contains(side) && memory_.find(side).kind == PointerInfo::Kind::unregistered)
      return Status::invalid_value;
  Transfer transfer = describe(to, from, bytes, stream);
  Work work{Work::Kind::copy, 0, static_cast<double>(bytes), 0, transfer.direction};
  if (transfer.direction == Direction::device_to_device) work.bytes *= 2;
  const Interval interval = run(work, stream);
  if (streams_.capturing(stream)) return Status::ok;
  if (ActivityObserver* profiler = observer(); profiler != nullptr)
    profiler->copy({transfer.direction, transfer.pinned, bytes}, interval.end_ns - interval.start_ns, stream);
  bool unknown = false;
  if (transfer.direction == Direction::host_to_device) transfer.repeated = repeated_.see(line, pointer(from), bytes);
  move(transfer, &unknown);
  log_transfer(ulog::RecordType::copy, transfer, interval, line);
  if (unknown) log_transfer(ulog::RecordType::unknown_read, transfer, interval, line);
  if (waits) streams_.synchronize(stream, nullptr);
  return Status::ok;
}

Status LocalMachine::fill(void* destination, std::uint32_t value, std::uint32_t value_bytes, std::uint64_t count,
                          StreamId stream) {
  const std::uint64_t bytes = count * value_bytes;
  if (bytes == 0) return Status::ok;
  const auto to = reinterpret_cast<std::uint64_t>(destination);
  const Lock lock(mutex_);
  if (!backing_.contains(to) || memory_.find(to).kind == PointerInfo::Kind::unregistered) return Status::invalid_value;
  const Interval interval =
      run({Work::Kind::fill, 0, static_cast<double>(bytes), 0, Direction::device_to_device}, stream);
  if (streams_.capturing(stream)) return Status::ok;
  if (ActivityObserver* profiler = observer(); profiler != nullptr)
    profiler->fill({value, bytes}, interval.end_ns - interval.start_ns, stream);
  if (bytes <= real_limit) {
    repeat(destination, &value, value_bytes, count);
    known_.set_known(to, bytes);
  } else {
    known_.set_unknown(to, bytes);
  }
  log_transfer(ulog::RecordType::fill, Transfer{to, 0, bytes, Direction::device_to_device, false, stream}, interval,
               {});
  return Status::ok;
}

bool LocalMachine::evaluate(const KernelLaunch& launch) {
  const auto fill = as_fill(launch);
  if (!fill || fill->count * fill->value_bytes > real_limit) return false;
  if (memory_.find(fill->destination).kind == PointerInfo::Kind::unregistered) return false;
  repeat(pointer(fill->destination), fill->value, fill->value_bytes, fill->count);
  known_.set_known(fill->destination, fill->count * fill->value_bytes);
  return true;
}

void LocalMachine::forget_written(const KernelLaunch& launch) {
  if (settled_by_caller > 0 || known_.empty()) return;
  if (const std::uint64_t output = elementwise_output(launch); output != 0) {
    known_.forget(output);
    return;
  }
  if (const auto lists = tensor_lists(launch)) {
    for (std::size_t i = 0; i < lists->lists * lists->capacity; ++i) {
      std::uint64_t address = 0;
      std::memcpy(&address, static_cast<const char*>(lists->addresses) + 8 * i, sizeof(address));
      if (i % lists->capacity < lists->used) known_.forget(address);
    }
    return;
  }
  // Which of its pointers another kernel writes to is not known: whatever it points to may have changed.
  for_each_word(launch, [this](std::uint64_t word) {
    if (backing_.contains(word)) known_.forget(word);
  });
}

void LocalMachine::launch(const KernelLaunch& launch, StreamId stream) {
  const Lock lock(mutex_);
  if (launches_++ == 0) memory_.first_launch();
  const std::uint64_t threads = product(launch.grid) * product(launch.block);
  const Interval interval = run({Work::Kind::kernel, 0, 0, threads, Direction::device_to_device}, stream);
  KernelActivity activity{launch.name};
  std::copy_n(launch.grid, 3, activity.grid);
  std::copy_n(launch.block, 3, activity.block);
  tell_kernel(activity, interval, stream);
  if (streams_.capturing(stream) || !evaluate(launch)) forget_written(launch);
  ulog::Launch record{
      log_.static_name(NameKind::kernel, launch.name), stream, {}, {}, interval.start_ns, interval.end_ns};
  std::copy_n(launch.grid, 3, record.grid);
  std::copy_n(launch.block, 3, record.block);
  log_.add(ulog::RecordType::launch, streams_.now(), record);
}

void LocalMachine::gemm(const GemmCall& call, StreamId stream) {
  const Lock lock(mutex_);
  const double flops = 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k) *
                       static_cast<double>(call.batch);
  const Interval interval = run({Work::Kind::gemm, flops, 0, 1, Direction::device_to_device}, stream);
  tell_kernel({gemm_name(call.type)}, interval, stream);
  log_.add(ulog::RecordType::gemm, streams_.now(),
           ulog::Gemm{call.m, call.n, call.k, call.batch, log_.static_name(NameKind::function, call.function), stream,
                      call.type, call.compute, interval.start_ns, interval.end_ns});
}

void LocalMachine::collective(const char* function, std::uint64_t bytes, std::uint32_t ranks, StreamId stream) {
  const Lock lock(mutex_);
  const Interval interval =
      run({Work::Kind::collective, 0, static_cast<double>(bytes), 0, Direction::device_to_device}, stream);
  tell_kernel({function}, interval, stream);
  log_.add(ulog::RecordType::collective, streams_.now(),
           ulog::Collective{bytes, log_.static_name(NameKind::function, function), stream, ranks, 0});
}

Status LocalMachine::launch_graph(std::uint64_t graph, StreamId stream) {
  const Lock lock(mutex_);
  std::uint64_t duration = 0;
  if (!streams_.graph(graph, &duration, nullptr)) return Status::invalid_handle;
  streams_.advance();
  tell_kernel({"simulated_graph_replay"}, streams_.submit(duration, stream), stream);
  known_.clear();  // a replay writes memory that nothing here names
  return Status::ok;
}

}  // namespace ullage::vgpu
