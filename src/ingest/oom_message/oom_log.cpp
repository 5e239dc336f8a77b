// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/oom_log.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "ingest/oom_message/oom_grammar.hpp"
#include "ingest/oom_message/oom_prefix.hpp"

namespace ullage::ingest {
namespace {

constexpr std::size_t line_bytes = 1 << 16;  // longer lines are taken in pieces, as if broken there
constexpr std::size_t origins_at_most = 4096;
constexpr std::size_t messages_at_most = 2000;

// The lines of one process of a log, squeezed, as far back as a message may still begin.
class Stream {
 public:
  /// `carried`: the line had no prefix of its own.
  void add(std::string_view text, std::uint64_t line, std::uint64_t offset, bool carried) {
    marks_.push_back({text_.size(), line, offset, carried});
    squeeze(text, text_);
  }

  template <class Take>
  void read(bool to_the_end, Take take) {
    std::size_t from = 0;
    for (auto start = find_oom(text_, from); start; start = find_oom(text_, from)) {
      if (!to_the_end && text_.size() - start->trigger < oom_text_bytes) {
        pending_ = true;
        drop_before(std::min(start->trigger, start->begin));
        return;
      }
      std::size_t end = start->after;
      if (auto message = parse_oom(text_, *start, end)) {
        const Mark& mark = mark_of(start->trigger);
        message->line = mark.line, message->offset = mark.offset;
        take(std::move(*message), mark.carried);
      }
      from = std::max(end, start->trigger + 1);
    }
    pending_ = false;
    const std::size_t tail = text_.size() - std::min(text_.size(), oom_tail_bytes);
    drop_before(std::max(from, tail));
  }

  [[nodiscard]] bool pending() const { return pending_; }

 private:
  struct Mark {
    std::size_t at;
    std::uint64_t line, offset;
    bool carried;
  };

  [[nodiscard]] const Mark& mark_of(std::size_t at) const {
    const auto after = std::ranges::upper_bound(marks_, at, {}, &Mark::at);
    return after == marks_.begin() ? marks_.front() : *std::prev(after);
  }

  void drop_before(std::size_t count) {
    if (count == 0) return;
    auto first = std::ranges::upper_bound(marks_, count, {}, &Mark::at);
    if (first != marks_.begin()) --first;
    marks_.erase(marks_.begin(), first);
    for (Mark& mark : marks_) mark.at -= std::min(mark.at, count);
    text_.erase(0, count);
  }

  std::string text_;
  std::vector<Mark> marks_;
  bool pending_ = false;
};

bool same_size(const std::optional<PrintedSize>& left, const std::optional<PrintedSize>& right) {
  return left.has_value() == right.has_value() && (!left || left->printed == right->printed);
}

// A launcher's summary repeats what the process itself had printed, with or without its prefix.
bool repeats(const OomMessage& left, const OomMessage& right) {
  const bool other_place = left.rank && right.rank && left.rank != right.rank;
  return !other_place && left.backend == right.backend && left.gpu == right.gpu && left.requested.has_value() &&
         same_size(left.requested, right.requested) && same_size(left.capacity, right.capacity) &&
         same_size(left.allocated, right.allocated) && same_size(left.free, right.free) &&
         same_size(left.reserved(), right.reserved());
}

/// `train.py` of `File "train.py", line 12, in <module>`; empty for another line.
std::string script_of(std::string_view line) {
  constexpr std::string_view before = "File \"", after = ".py\", line ";
  const auto begin = line.find(before);
  if (begin == line.npos || !line.ends_with("in <module>")) return {};
  const auto end = line.find(after, begin);
  if (end == line.npos) return {};
  const std::size_t path = begin + before.size();
  return std::string(line.substr(path, end + 3 - path));
}

class Collector {
 public:
  explicit Collector(OomLog& out) : out_(out) {}

  void line(std::string_view text, std::uint64_t offset) {
    const BareLine bare = bare_line(text);
    const bool carried = bare.origin.empty() && carry_on();
    const std::string& origin = carried ? last_ : bare.origin;
    if (!streams_.contains(origin) && streams_.size() >= origins_at_most) finish();
    Process& process = streams_[origin];
    if (bare.rank) process.rank = bare.rank;
    out_.stated.read(bare.text, out_.lines + 1);
    if (out_.script.empty()) out_.script = script_of(bare.text);
    process.stream.add(bare.text, out_.lines + 1, offset, carried);
    read(origin, process, false);
    last_ = origin;
  }

  void finish() {
    for (auto& entry : streams_) {
      read(entry.first, entry.second, true);
    }
    streams_.clear();
    std::ranges::stable_sort(out_.messages, {}, &OomMessage::line);
  }

 private:
  struct Process {
    Stream stream;
    std::optional<int> rank;
  };

  // A line without a prefix goes on with the message that the line before it began.
  [[nodiscard]] bool carry_on() const {
    const auto found = streams_.find(last_);
    return found != streams_.end() && found->second.stream.pending();
  }

  void read(const std::string& origin, Process& process, bool to_the_end) {
    process.stream.read(to_the_end, [&](OomMessage message, bool carried) {
      if (!carried) message.origin = origin, message.rank = process.rank;
      keep(std::move(message));
    });
  }

  void keep(OomMessage message) {
    const auto same = std::ranges::find_if(out_.messages, [&](const auto& other) { return repeats(other, message); });
    if (same != out_.messages.end()) {
      ++same->times;
      if (!same->rank) same->rank = message.rank, same->origin = message.origin;
    } else if (out_.messages.size() < messages_at_most) {
      out_.messages.push_back(std::move(message));
    } else {
      ++out_.not_kept;
    }
  }

  OomLog& out_;
  std::map<std::string, Process> streams_;
  std::string last_;
};

}  // namespace

bool looks_like_text(std::string_view head) {
  return !head.empty() && std::ranges::all_of(head, [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || (c >= '\t' && c <= '\r') || c == '\x1b' || c == '\b';
  });
}

OomLog read_oom_log(Source& source) {
  OomLog log;
  Collector collector(log);
  std::vector<char> buffer(line_bytes);
  std::size_t used = 0;
  std::uint64_t offset = 0;  // of the buffer's first byte
  for (;;) {
    const std::size_t got = source.read(std::as_writable_bytes(std::span(buffer).subspan(used)));
    used += got, log.bytes += got;
    std::size_t begin = 0;
    while (const auto* feed = static_cast<const char*>(std::memchr(buffer.data() + begin, '\n', used - begin))) {
      const auto end = static_cast<std::size_t>(feed - buffer.data());
      collector.line({buffer.data() + begin, end - begin}, offset + begin);
      ++log.lines;
      begin = end + 1;
    }
    if ((got == 0 || begin == 0) && begin < used && (got == 0 || used == buffer.size())) {
      collector.line({buffer.data() + begin, used - begin}, offset + begin);
      begin = used;
    }
    std::memmove(buffer.data(), buffer.data() + begin, used - begin);
    used -= begin, offset += begin;
    if (got == 0) break;
  }
  collector.finish();
  log.damage = source.damage();
  return log;
}

}  // namespace ullage::ingest
