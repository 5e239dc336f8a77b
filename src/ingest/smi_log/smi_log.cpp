// SPDX-License-Identifier: Apache-2.0
#include "ingest/smi_log/smi_log.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace ullage::ingest {
namespace {

constexpr std::size_t series_at_most = 20000;

bool used_memory(std::string_view field) {
  return field == "memory.used" || field == "used_memory" || field == "used_gpu_memory";
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells = split(line, ',');
  for (std::string& cell : cells) cell = std::string(trim(cell));
  return cells;
}

// `memory.used [MiB]` -> `memory.used`
std::string field_of(const std::string& cell) {
  return std::string(trim(std::string_view(cell).substr(0, cell.find('['))));
}

bool is_header(const std::vector<std::string>& cells) {
  return std::ranges::any_of(cells, [](const std::string& cell) { return used_memory(field_of(cell)); });
}

// `1234 MiB`, `1234`; nothing for [N/A] and its like.
std::optional<std::uint64_t> mebibytes(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (error != std::errc() || value > (std::uint64_t{1} << 40) || (!unit.empty() && unit != "MiB" && unit != "MB"))
    return std::nullopt;
  return value * mib;
}

// `2026/01/31 12:34:56.789`
std::optional<std::int64_t> time_of(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  if (std::sscanf(text.c_str(), "%4d/%2d/%2d %2d:%2d:%lf", &year, &month, &day, &hour, &minute, &second) != 6)
    return std::nullopt;
  const auto date = std::chrono::year(year) / month / day;
  const bool clock = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 61;
  if (!date.ok() || year < 1970 || year > 2200 || !clock) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60'000'000'000 +
         static_cast<std::int64_t>(second * 1e3 + 0.5) * 1'000'000;
}

class Reader {
 public:
  explicit Reader(SmiLog& out) : out_(out) {}

  void line(std::string_view text) {
    ++out_.lines;
    if (trim(text).empty()) return;
    std::vector<std::string> cells = cells_of(text);
    if (is_header(cells)) {
      fields_.clear();
      for (const std::string& cell : cells) fields_.push_back(field_of(cell));
      return;
    }
    whole_ = !fields_.empty() && merge(cells);
    if (!whole_) {
      ++out_.bad_lines;
      return;
    }
    sample(cells);
  }
  /// Whether the last line had all fields, the last one with a value.
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  // A process's name may hold commas.
  bool merge(std::vector<std::string>& cells) const {
    const auto name = std::ranges::find(fields_, "process_name");
    const auto at = static_cast<std::size_t>(name - fields_.begin());
    while (cells.size() > fields_.size() && name != fields_.end()) {
      cells[at] += ", " + cells[at + 1];
      cells.erase(cells.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    return cells.size() == fields_.size();
  }

  [[nodiscard]] std::string value(const std::vector<std::string>& cells,
                                  std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const auto found = std::ranges::find(fields_, name);
      if (found != fields_.end()) return cells[static_cast<std::size_t>(found - fields_.begin())];
    }
    return {};
  }

  void sample(const std::vector<std::string>& cells) {
    const std::string gpu = value(cells, {"index", "uuid", "gpu_uuid", "gpu_bus_id", "pci.bus_id", "name", "gpu_name"});
    const std::string pid = value(cells, {"pid"});
    auto found = index_.find({gpu, pid});
    if (found == index_.end()) {
      if (out_.series.size() >= series_at_most) return;
      found = index_.emplace(std::pair(gpu, pid), out_.series.size()).first;
      out_.series.push_back({gpu, value(cells, {"name", "gpu_name"}), pid, value(cells, {"process_name"}), {}, {}, 0});
    }
    SmiSeries& series = out_.series[found->second];
    if (const auto total = mebibytes(value(cells, {"memory.total"}))) series.capacity_bytes = total;
    const auto used = mebibytes(value(cells, {"memory.used", "used_memory", "used_gpu_memory"}));
    if (!used) {
      ++series.missing;
      return;
    }
    const auto time = time_of(value(cells, {"timestamp"}));
    out_.has_times |= time.has_value();
    series.used.add(time.value_or(static_cast<std::int64_t>(series.used.count())), *used);
  }

  SmiLog& out_;
  std::vector<std::string> fields_;
  std::map<std::pair<std::string, std::string>, std::size_t> index_;
  bool whole_ = true;
};

}  // namespace

bool looks_like_smi_log(std::string_view head) {
  for (int i = 0; i < 4 && !head.empty(); ++i) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.size() < 2000 && is_header(cells_of(line)) && line.find(',') != line.npos) return true;
  }
  return false;
}

bool looks_like_smi_log_without_header(std::string_view head) {
  const auto cells = cells_of(head.substr(0, std::min(head.find('\n'), std::size_t{2000})));
  const bool sizes = std::ranges::any_of(
      cells, [](const std::string& cell) { return cell.ends_with(" MiB") && mebibytes(cell).has_value(); });
  return cells.size() > 1 && time_of(cells[0]).has_value() && sizes;
}

Result<SmiLog> read_smi_log(Source& source) {
  SmiLog log;
  Reader reader(log);
  const auto bytes = source.rest();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t all = text.size();
  std::size_t last = 0;
  while (!text.empty()) {
    last = all - text.size();
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    reader.line(line);
  }
  if (source.damage()) {
    log.damage = source.damage();
  } else if (!reader.whole()) {
    log.damage = Error{ErrorKind::bad_input,
                       "the last line breaks off",
                       source.name() + ", byte " + std::to_string(last),
                       "as many fields as the header has",
                       {}};
  }
  const bool any = std::ranges::any_of(log.series, [](const SmiSeries& s) { return s.used.count() > 0; });
  if (any) return log;
  if (log.damage) return tl::unexpected<Error>(*log.damage);
  return fail(ErrorKind::bad_input, "there is no sample of used memory in this log", source.name(),
              "lines of nvidia-smi with memory.used or used_memory");
}

}  // namespace ullage::ingest
