// SPDX-License-Identifier: Apache-2.0
#include "ingest/run_directory/device_log.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "base/byte_reader.hpp"

namespace ullage::ingest {

namespace {

using ulog::RecordType;
using Bytes = std::span<const std::byte>;

constexpr std::size_t max_name_bytes = 4096;

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

void take_off(std::uint64_t& total, std::uint64_t bytes) {
  total -= std::min(total, bytes);
}

struct CountAndBytes {
  std::uint64_t count = 0, bytes = 0;
  void add(std::uint64_t more) {
    ++count;
    bytes = saturating_add(bytes, more);
  }
};

struct CopyTotals : CountAndBytes {
  std::uint64_t waited = 0, duration_ns = 0;
  CountAndBytes repeated;
};

class LogReader {
 public:
  Result<DeviceLog> run(Bytes input) {
    ByteReader reader(input);
    if (auto head = read_head(reader); !head) return tl::unexpected<Error>(head.error());
    while (!reader.at_end() && read_record(reader)) {
    }
    close_interval(std::nullopt);
    for (const auto& [key, calls] : stubs_) log_.stubs.push_back({key.first, key.second, calls});
    for (const auto& [function, sum] : collectives_) log_.collectives.push_back({function, sum.count, sum.bytes});
    for (const auto& [purpose, sum] : workspaces_) log_.workspaces.push_back(sum);
    return std::move(log_);
  }

 private:
  Result<void> read_head(ByteReader& reader) {
    const auto magic = reader.text(sizeof ulog::magic);
    if (!magic || std::memcmp(magic->data(), ulog::magic, sizeof ulog::magic) != 0) {
      return fail(ErrorKind::bad_input, "this is not a device log", "byte 0", "a file that begins with ULLAGEDL");
    }
    const auto version = reader.u32();
    if (!version) return tl::unexpected<Error>(version.error());
    if (*version != ulog::version) {
      return fail(ErrorKind::bad_input, "the device log has version " + std::to_string(*version), "byte 8",
                  "version " + std::to_string(ulog::version), "read it with the version of ullage that wrote it");
    }
    const auto pid = reader.u32();
    if (!pid) return tl::unexpected<Error>(pid.error());
    log_.pid = *pid;
    return {};
  }

  bool read_record(ByteReader& reader) {
    const std::size_t start = reader.offset();
    const auto head = reader.bytes(sizeof(ulog::RecordHeader));
    if (!head) return stop_at(start, head.error());
    ulog::RecordHeader header;
    std::memcpy(&header, head->data(), sizeof header);
    const auto payload = reader.bytes(header.size);
    if (!payload) return stop_at(start, payload.error());
    take(header, *payload);
    return true;
  }

  bool stop_at(std::size_t offset, Error error) {
    error.what = "the device log ends in the middle of a record";
    error.where = "byte " + std::to_string(offset);
    log_.damage = std::move(error);
    return false;
  }

  // Calls `then` with the payload as a T; counts payloads that are too short.
  template <class T, class Then>
  void with(Bytes payload, Then then) {
    if (payload.size() < sizeof(T)) {
      ++log_.bad_records;
      return;
    }
    T value;
    std::memcpy(&value, payload.data(), sizeof(T));
    then(value);
  }

  void take(const ulog::RecordHeader& header, Bytes payload) {
    take_by_type(header, payload);
    const auto type = static_cast<RecordType>(header.type);
    if (type != RecordType::copy && type != RecordType::name) last_copy_ = nullptr;
  }

  void take_by_type(const ulog::RecordHeader& header, Bytes payload) {
    switch (static_cast<RecordType>(header.type)) {
      case RecordType::name:
        take_name(payload);
        break;
      case RecordType::allocate:
        with<ulog::Memory>(payload, [&](const auto& m) { on_allocate(m); });
        break;
      case RecordType::release:
        with<ulog::Memory>(payload, [&](const auto& m) { on_release(m); });
        break;
      case RecordType::launch:
        ++interval_.launches;
        ++log_.launches;
        break;
      case RecordType::gemm:
        with<ulog::Gemm>(payload, [&](const auto& g) { on_gemm(g); });
        break;
      case RecordType::copy:
        with<ulog::Copy>(payload, [&](const auto& c) { on_copy(c); });
        break;
      case RecordType::sync:
        with<ulog::Sync>(payload, [&](const auto& s) { on_sync(s); });
        break;
      case RecordType::mark:
        with<ulog::Mark>(payload, [&](const auto& m) { close_interval(m.index); });
        break;
      case RecordType::unknown_read:
        with<ulog::Copy>(payload, [&](const auto& c) { reads_[c.line].add(c.bytes); });
        break;
      case RecordType::stub_calls:
        with<ulog::StubCalls>(payload, [&](const auto& s) { stubs_[{s.library, s.function}] = s.calls; });
        break;
      case RecordType::host_memory:
        with<ulog::Memory>(payload, [&](const auto& m) { on_host_memory(m, header.flags == 1); });
        break;
      case RecordType::collective:
        with<ulog::Collective>(payload, [&](const auto& c) { collectives_[c.function].add(c.bytes); });
        break;
      case RecordType::out_of_memory:
        with<ulog::Memory>(payload, [&](const auto& m) { on_oom(m); });
        break;
      case RecordType::totals:
        with<ulog::Totals>(payload, [&](const auto& t) { on_totals(t); });
        break;
      default:
        if (static_cast<RecordType>(header.type) == RecordType::workspace) take_workspace(payload);
    }
  }

  void take_workspace(Bytes payload) {
    with<ulog::Workspace>(payload, [&](const auto& w) { on_workspace(w); });
  }

  void take_name(Bytes payload) {
    with<ulog::Name>(payload, [&](const ulog::Name& name) {
      const Bytes text = payload.subspan(sizeof(ulog::Name));
      if (name.length > text.size()) {
        ++log_.bad_records;
        return;
      }
      const std::size_t length = std::min<std::size_t>(name.length, max_name_bytes);
      log_.names[name.id] = std::string(reinterpret_cast<const char*>(text.data()), length);
    });
  }

  static bool on_device(const ulog::Memory& m) {
    const auto kind = static_cast<ulog::MemoryKind>(m.kind);
    return kind == ulog::MemoryKind::device || kind == ulog::MemoryKind::physical;
  }

  void on_allocate(const ulog::Memory& m) {
    if (on_device(m)) {
      log_.device_bytes = saturating_add(log_.device_bytes, m.bytes);
      log_.device_peak_bytes = std::max(log_.device_peak_bytes, log_.device_bytes);
    } else if (static_cast<ulog::MemoryKind>(m.kind) == ulog::MemoryKind::managed) {
      log_.managed_bytes = saturating_add(log_.managed_bytes, m.bytes);
    } else if (static_cast<ulog::MemoryKind>(m.kind) == ulog::MemoryKind::context) {
      log_.context_bytes = saturating_add(log_.context_bytes, m.bytes);
    }
  }

  void on_release(const ulog::Memory& m) {
    if (on_device(m)) take_off(log_.device_bytes, m.bytes);
    if (static_cast<ulog::MemoryKind>(m.kind) == ulog::MemoryKind::managed) take_off(log_.managed_bytes, m.bytes);
  }

  void on_host_memory(const ulog::Memory& m, bool given_back) {
    if (given_back) return take_off(log_.pinned_bytes, m.bytes);
    log_.pinned_bytes = saturating_add(log_.pinned_bytes, m.bytes);
    log_.pinned_peak_bytes = std::max(log_.pinned_peak_bytes, log_.pinned_bytes);
  }

  void on_workspace(const ulog::Workspace& w) {
    WorkspaceSum& sum = workspaces_[w.purpose];
    sum.purpose = w.purpose;
    ++sum.count;
    sum.bytes = std::max(sum.bytes, w.bytes);
    sum.low_bytes = std::max(sum.low_bytes, w.low);
    sum.high_bytes = std::max(sum.high_bytes, w.high);
  }

  void on_oom(const ulog::Memory& m) {
    ++log_.ooms;
    log_.last_oom_bytes = m.bytes;
  }

  // The writer's own totals also cover records that it dropped.
  void on_totals(const ulog::Totals& t) {
    log_.context_bytes = t.context_bytes;
    log_.device_bytes = t.device_bytes;
    log_.device_peak_bytes = std::max(log_.device_peak_bytes, t.device_peak_bytes);
    log_.pinned_bytes = t.pinned_bytes;
    log_.pinned_peak_bytes = std::max(log_.pinned_peak_bytes, t.pinned_peak_bytes);
    log_.managed_bytes = t.managed_bytes;
    log_.launches = std::max(log_.launches, t.launches);
    log_.dropped_records = t.dropped_records;
  }

  void on_gemm(const ulog::Gemm& g) {
    const std::uint64_t flops =
        saturating_multiply(saturating_multiply(saturating_multiply(g.m, g.n), saturating_multiply(g.k, 2)), g.batch);
    ++interval_.gemms;
    ++log_.gemms;
    interval_.gemm_flops = saturating_add(interval_.gemm_flops, flops);
    log_.gemm_flops = saturating_add(log_.gemm_flops, flops);
  }

  void on_copy(const ulog::Copy& c) {
    CopyTotals& sum = copies_[{c.direction, (c.flags & ulog::copy_pinned) != 0, c.line}];
    sum.add(c.bytes);
    if ((c.flags & ulog::copy_repeated) != 0) sum.repeated.add(c.bytes);
    sum.duration_ns = saturating_add(sum.duration_ns, c.end_ns > c.start_ns ? c.end_ns - c.start_ns : 0);
    last_copy_ = &sum;
    last_copy_stream_ = c.stream;
  }

  void on_sync(const ulog::Sync& s) {
    syncs_[{s.function, s.line}].add(s.waited_ns);
    if (last_copy_ != nullptr && last_copy_stream_ == s.stream) ++last_copy_->waited;
  }

  void close_interval(std::optional<std::uint32_t> mark) {
    interval_.end_mark = mark;
    for (const auto& [key, sum] : copies_) {
      const auto& [direction, pinned, line] = key;
      interval_.copies.push_back({static_cast<ulog::Direction>(direction), pinned, line, sum.count, sum.bytes,
                                  sum.waited, sum.duration_ns, sum.repeated.count, sum.repeated.bytes});
    }
    for (const auto& [key, sum] : syncs_) interval_.syncs.push_back({key.first, key.second, sum.count, sum.bytes});
    for (const auto& [line, sum] : reads_) interval_.unknown_reads.push_back({line, sum.count, sum.bytes});
    interval_.device_bytes = log_.device_bytes;
    interval_.pinned_bytes = log_.pinned_bytes;
    log_.intervals.push_back(std::exchange(interval_, {}));
    copies_.clear();
    last_copy_ = nullptr;
    syncs_.clear();
    reads_.clear();
  }

  DeviceLog log_;
  LogInterval interval_;
  std::map<std::tuple<std::uint32_t, bool, NameId>, CopyTotals> copies_;
  CopyTotals* last_copy_ = nullptr;  ///< when it is the last thing that happened
  std::uint32_t last_copy_stream_ = 0;
  std::map<std::pair<NameId, NameId>, CountAndBytes> syncs_;
  std::map<NameId, CountAndBytes> reads_;
  std::map<std::pair<NameId, NameId>, std::uint64_t> stubs_;
  std::map<NameId, CountAndBytes> collectives_;
  std::map<NameId, WorkspaceSum> workspaces_;
};

}  // namespace

std::string_view DeviceLog::name(NameId id) const {
  const auto it = names.find(id);
  return it == names.end() ? std::string_view{} : std::string_view(it->second);
}

Result<DeviceLog> read_device_log(Bytes input) {
  return LogReader().run(input);
}

}  // namespace ullage::ingest
