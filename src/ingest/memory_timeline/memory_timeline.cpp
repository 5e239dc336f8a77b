// SPDX-License-Identifier: Apache-2.0
#include "ingest/memory_timeline/memory_timeline.hpp"

#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ingest/kineto/text_stream.hpp"

namespace ullage::ingest {
namespace {

constexpr std::size_t kinds = timeline_categories.size();
constexpr std::int64_t most = std::int64_t{1} << 60;

class Handler {
 public:
  explicit Handler(MemoryTimeline& out) : out_(out) {
    for (std::size_t i = 0; i < kinds; ++i) out_.categories[i].name = timeline_categories[i];
  }

  bool Null() { return number(0); }
  bool Bool(bool) { return number(0); }
  bool Int(int value) { return number(value); }
  bool Uint(unsigned value) { return number(value); }
  bool Int64(std::int64_t value) { return number(value); }
  bool Uint64(std::uint64_t value) { return number(static_cast<std::int64_t>(std::min<std::uint64_t>(value, most))); }
  bool Double(double value) { return number(value > -9e17 && value < 9e17 ? static_cast<std::int64_t>(value) : 0); }
  bool RawNumber(const char*, unsigned, bool) { return false; }
  bool String(const char*, unsigned, bool) { return number(0); }
  bool StartObject() { return false; }
  bool Key(const char*, unsigned, bool) { return false; }
  bool EndObject(unsigned) { return false; }

  bool StartArray() {
    if (++depth_ > 3) return false;
    if (depth_ == 2 && lists_++ == 1 && first_.size() != 4) sums_ = true;
    if (depth_ == 3 && moments_ == 0 && events_ == 0) sums_ = true;
    if (depth_ == 3 || (depth_ == 2 && !sums_)) row_.clear();
    return true;
  }

  bool EndArray(unsigned) {
    if (depth_ == 3) take_moment();
    if (depth_ == 2 && lists_ == 1) {
      first_ = row_;
    } else if (depth_ == 2 && !sums_) {
      if (lists_ == 2) take_row(first_);
      take_row(row_);
    }
    --depth_;
    return true;
  }

  void finish() {
    if (lists_ == 1 && first_.size() == 4) take_row(first_);
    out_.rows = !sums_;
    out_.events = sums_ ? moments_ : events_;
  }

 private:
  bool number(std::int64_t value) {
    row_.push_back(std::clamp(value, -most, most));
    return lists_ < 2 || row_.size() <= 16;
  }

  // `[time in ns, action, signed bytes, category]`
  void take_row(const std::vector<std::int64_t>& row) {
    if (row.size() != 4 || row[3] < 0 || row[3] >= static_cast<std::int64_t>(kinds)) {
      ++out_.bad_rows;
      return;
    }
    ++events_;
    const auto category = static_cast<std::size_t>(row[3]);
    held_[category] = std::clamp(held_[category] + row[2], -most, most);
    if (row[0] < 0) out_.at_start = sum();
    point(row[0], category);
    look(row[0]);
  }

  // A row of sums: an unused 0, then one per category; its time in microseconds stands in the first list.
  void take_moment() {
    if (row_.size() != kinds + 1 || moments_ >= first_.size()) {
      ++out_.bad_rows;
      return;
    }
    const std::int64_t time = std::clamp(first_[moments_++], -most / 1000, most / 1000) * 1000;
    for (std::size_t i = 0; i < kinds; ++i) {
      if (held_[i] == row_[i + 1] && !out_.categories[i].value.empty()) continue;
      held_[i] = row_[i + 1];
      point(time, i);
    }
    look(time);
  }

  void point(std::int64_t time, std::size_t category) {
    if (held_[category] < 0) ++out_.below_zero;
    out_.categories[category].add(time, static_cast<std::uint64_t>(std::max<std::int64_t>(held_[category], 0)));
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (const std::int64_t held : held_) total += static_cast<std::uint64_t>(std::max<std::int64_t>(held, 0));
    return total;
  }

  void look(std::int64_t time) {
    const std::uint64_t total = sum();
    if (total <= out_.peak) return;
    out_.peak = total, out_.peak_time_ns = time;
    for (std::size_t i = 0; i < kinds; ++i)
      out_.at_peak[i] = static_cast<std::uint64_t>(std::max<std::int64_t>(held_[i], 0));
  }

  MemoryTimeline& out_;
  int depth_ = 0;
  std::uint64_t lists_ = 0, moments_ = 0, events_ = 0;
  bool sums_ = false;
  std::vector<std::int64_t> first_, row_;
  std::array<std::int64_t, kinds> held_{};
};

}  // namespace

bool looks_like_memory_timeline(std::string_view head) {
  std::size_t brackets = 0;
  for (const char c : head) {
    if (c == '[') {
      ++brackets;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      return brackets == 2;
    } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      return false;
    }
  }
  return false;
}

bool looks_like_memory_timeline_page(std::string_view head) {
  return head.starts_with("<html") && head.find("data:image/png;base64") != head.npos;
}

Result<MemoryTimeline> read_memory_timeline(Source& source) {
  MemoryTimeline timeline;
  Handler handler(timeline);
  TextStream stream(source, false);
  rapidjson::Reader reader;
  const auto status = reader.Parse<rapidjson::kParseStopWhenDoneFlag>(stream, handler);
  handler.finish();
  if (source.damage()) {
    timeline.damage = source.damage();
  } else if (status.IsError()) {
    timeline.damage =
        Error{ErrorKind::bad_input,
              std::string("the file is no list of numbers any more: ") + rapidjson::GetParseError_En(status.Code()),
              source.name() + ", byte " + std::to_string(status.Offset()), "what export_memory_timeline writes",
              "the file may have been cut short while it was written or copied"};
  }
  if (timeline.events > 0) return timeline;
  if (timeline.damage) return tl::unexpected<Error>(*timeline.damage);
  return fail(ErrorKind::bad_input, "these lists hold no memory timeline", source.name(),
              "rows of [time, action, bytes, category], or [times, sizes]");
}

}  // namespace ullage::ingest
