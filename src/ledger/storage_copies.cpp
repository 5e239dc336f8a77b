// SPDX-License-Identifier: Apache-2.0
#include "ledger/storage_copies.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "ledger/texts.hpp"

namespace ullage::ledger {

namespace {

using timeline::AllocationId;
using timeline::CallId;
using timeline::no_call;

struct CopyingOperator {
  std::string_view name;
  CopyKind kind;
};
constexpr CopyingOperator copying[] = {
    {"aten::contiguous", CopyKind::contiguous},
    {"aten::to", CopyKind::cast},
    {"aten::_to_copy", CopyKind::cast},
    {"aten::clone", CopyKind::clone},
    {"aten::reshape", CopyKind::reshape},
    {"aten::reshape_as", CopyKind::reshape},
    {"aten::flatten", CopyKind::reshape},
    {"aten::pad", CopyKind::padding},
    {"aten::constant_pad_nd", CopyKind::padding},
    {"aten::reflection_pad1d", CopyKind::padding},
    {"aten::reflection_pad2d", CopyKind::padding},
    {"aten::replication_pad2d", CopyKind::padding},
    {"aten::repeat", CopyKind::repetition},
    {"aten::repeat_interleave", CopyKind::repetition},
    {"aten::tile", CopyKind::repetition},
    {"aten::cat", CopyKind::concatenation},
    {"aten::stack", CopyKind::concatenation},
    {"aten::hstack", CopyKind::concatenation},
    {"aten::vstack", CopyKind::concatenation},
};
constexpr std::string_view viewing[] = {"aten::view",    "aten::_unsafe_view", "aten::transpose", "aten::t",
                                        "aten::permute", "aten::expand",       "aten::slice",     "aten::select",
                                        "aten::narrow",  "aten::unsqueeze",    "aten::squeeze",   "aten::unbind",
                                        "aten::split",   "aten::chunk",        "aten::detach",    "aten::movedim",
                                        "aten::alias",   "aten::unfold",       "aten::diagonal"};

class CopyFinder {
 public:
  explicit CopyFinder(const CopySource& source) : source_(source), lines_(*source.timeline) {}

  std::vector<StorageCopy> run(std::size_t begin, std::size_t end, std::size_t cut) {
    const auto& allocations = *source_.allocations;
    for (std::size_t id = allocations.before_trace; id < allocations.count(); ++id) {
      if (allocations.born[id] < begin || allocations.born[id] >= end) continue;
      if (const auto kind = kind_of(source_.calls[id])) add(static_cast<AllocationId>(id), *kind, cut);
    }
    std::vector<StorageCopy> result;
    for (auto& [key, copy] : copies_) result.push_back(std::move(copy));
    std::ranges::stable_sort(result, std::ranges::greater(), &StorageCopy::bytes);
    return result;
  }

 private:
  [[nodiscard]] std::optional<CopyKind> kind_of(CallId call) const {
    std::optional<CopyKind> found;
    const auto& calls = source_.trace->calls;
    for (; call != no_call && calls.kind[call] == timeline::CallKind::operation; call = calls.parent[call]) {
      const std::string_view name = source_.trace->strings.text(calls.name[call]);
      const auto it = std::ranges::find(copying, name, &CopyingOperator::name);
      if (it != std::end(copying)) found = it->kind;
    }
    return found;
  }

  void add(AllocationId id, CopyKind kind, std::size_t cut) {
    const attribution::Label& label = source_.labels->of[id];
    if (label.category == attribution::Category::inputs || label.category == attribution::Category::parameters) return;
    StorageCopy copy;
    copy.kind = kind;
    copy.line = lines_.of(source_.allocations->stack[id]);
    copy.module = layers_as_stars(source_.labels->strings.text(label.module));
    copy.lives =
        label.kind != 0 ? std::string(source_.labels->strings.text(label.kind)) : attribution::name_of(label.category);
    StorageCopy& sum = copies_[{kind, copy.line, copy.module, copy.lives}];
    if (sum.count == 0) sum = std::move(copy);
    const std::uint64_t bytes = source_.allocations->requested[id];
    ++sum.count;
    sum.bytes += bytes;
    if (source_.allocations->live_at(id, cut)) sum.at_peak += bytes;
  }

  const CopySource& source_;
  LineTexts lines_;
  std::map<std::tuple<CopyKind, std::string, std::string, std::string>, StorageCopy> copies_;
};

}  // namespace

const char* name_of(CopyKind kind) {
  constexpr const char* names[] = {"contiguous", "cast", "clone", "reshape", "padding", "repetition", "concatenation"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<StorageCopy> storage_copies(const CopySource& source, std::size_t begin, std::size_t end, std::size_t cut) {
  return CopyFinder(source).run(begin, end, cut);
}

std::uint64_t view_calls(const CopySource& source, std::size_t begin, std::size_t end) {
  const auto& events = source.timeline->events;
  if (begin >= end || end > events.count()) return 0;
  const std::int64_t from = events.time_us[begin] * 1000, to = (events.time_us[end - 1] + 1) * 1000;
  const auto& trace = *source.trace;
  std::uint64_t count = 0;
  for (CallId call = 0; call < trace.calls.count(); ++call) {
    const std::int64_t time = trace.base_ns + trace.calls.begin_ns[call];
    if (time < from || time >= to) continue;
    const std::string_view name = trace.strings.text(trace.calls.name[call]);
    count += std::ranges::find(viewing, name) != std::end(viewing);
  }
  return count;
}

}  // namespace ullage::ledger
