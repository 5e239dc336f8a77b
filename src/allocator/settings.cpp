// SPDX-License-Identifier: Apache-2.0
#include "allocator/settings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace ullage::allocator {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

constexpr std::array<std::string_view, 18> known_keys = {"max_split_size_mb",
                                                         "max_non_split_rounding_mb",
                                                         "large_segment_size_mb",
                                                         "garbage_collection_threshold",
                                                         "roundup_power2_divisions",
                                                         "expandable_segments",
                                                         "per_process_memory_fraction",
                                                         "backend",
                                                         "release_lock_on_cudamalloc",
                                                         "pinned_use_cuda_host_register",
                                                         "pinned_num_register_threads",
                                                         "pinned_use_background_threads",
                                                         "pinned_reserve_segment_size_mb",
                                                         "pinned_free_catch_all",
                                                         "pinned_max_round_threshold",
                                                         "pinned_max_cached_size",
                                                         "graph_capture_record_stream_reuse",
                                                         "throw_on_cudamalloc_oom"};

tl::unexpected<Error> refused(std::string_view key, std::string_view value, std::string expected) {
  return fail(ErrorKind::usage, "an allocator setting has a value that PyTorch refuses",
              std::string(key) + ":" + std::string(value), std::move(expected));
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The parts between commas, those inside brackets left together.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (const auto part = trim(text.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
      begin = i + 1;
    } else {
      depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    }
  }
  return parts;
}

Result<std::uint64_t> mebibytes(std::string_view key, std::string_view value) {
  const auto count = number<std::uint64_t>(value);
  if (!count || *count <= 20) return refused(key, value, "a whole number of MiB above 20");
  return *count > unlimited / mib ? unlimited : *count * mib;
}

Result<double> share(std::string_view key, std::string_view value, bool with_one) {
  const auto found = number<double>(value);
  if (!found || !(*found > 0) || *found > 1 || (*found == 1 && !with_one))
    return refused(key, value, "a number between 0 and 1");
  return *found;
}

Result<std::uint32_t> divisions(std::string_view key, std::string_view value) {
  const auto count = number<std::uint32_t>(value);
  if (!count || (*count != 0 && !std::has_single_bit(*count))) return refused(key, value, "a power of two");
  return *count;
}

// `4`, or `[256:1,512:2,>:4]`: from that many MiB on.
Result<void> read_divisions(std::string_view value, timeline::AllocatorSettings& sizes) {
  constexpr std::string_view key = "roundup_power2_divisions";
  auto& slots = sizes.roundup_power2_divisions;
  if (!value.starts_with('[')) {
    const auto all = divisions(key, value);
    if (!all) return tl::unexpected(all.error());
    slots.fill(*all);
    return {};
  }
  if (!value.ends_with(']')) return refused(key, value, "a list in brackets");
  std::size_t next = 0;
  for (const std::string_view part : parts_of(value.substr(1, value.size() - 2))) {
    const auto colon = part.find(':');
    const auto count = divisions(key, colon == part.npos ? part : trim(part.substr(colon + 1)));
    if (!count) return tl::unexpected(count.error());
    const auto from = trim(part.substr(0, colon));
    const auto size = from == ">" ? std::optional(std::uint64_t{0}) : number<std::uint64_t>(from);
    if (colon == part.npos || !size || (from != ">" && !std::has_single_bit(*size)))
      return refused(key, part, "SIZE:DIVISIONS with a power of two in MiB, or >:DIVISIONS");
    const std::size_t slot =
        from == ">" ? slots.size() : std::min<std::size_t>(std::bit_width(*size) - 1, slots.size() - 1);
    if (next == 0) std::fill_n(slots.begin(), std::min(slot, slots.size()), *count);
    if (from == ">") {
      std::fill(slots.begin() + static_cast<std::ptrdiff_t>(std::min(next, slots.size())), slots.end(), *count);
      return {};
    }
    slots[slot] = *count;
    next = slot + 1;
  }
  return {};
}

template <class Value>
Result<void> take(const Result<Value>& read, Value& out) {
  if (!read) return tl::unexpected(read.error());
  out = *read;
  return {};
}

Result<void> read_one(std::string_view key, std::string_view value, Settings& settings) {
  if (key == "max_split_size_mb") return take(mebibytes(key, value), settings.sizes.max_split_bytes);
  if (key == "max_non_split_rounding_mb") return take(mebibytes(key, value), settings.max_non_split_rounding);
  if (key == "large_segment_size_mb") {
    const auto count = number<std::uint64_t>(value);
    if (!count || *count < 2 || *count > (1ULL << 20) || *count % 2 != 0)
      return refused(key, value, "an even number of MiB");
    settings.large_segment_bytes = settings.max_non_split_rounding = *count * mib;
    return {};
  }
  if (key == "garbage_collection_threshold")
    return take(share(key, value, false), settings.garbage_collection_threshold);
  if (key == "roundup_power2_divisions") return read_divisions(value, settings.sizes);
  if (key == "expandable_segments") {
    if (value != "True" && value != "False") return refused(key, value, "True or False");
    settings.sizes.expandable_segments = value == "True";
    return {};
  }
  if (key == "per_process_memory_fraction") {
    const auto fraction = share(key, value, true);
    if (!fraction) return tl::unexpected(fraction.error());
    settings.memory_fraction = *fraction;
    return {};
  }
  if (key == "backend" && value != "native")
    return fail(ErrorKind::usage, "only PyTorch's own allocator is modelled", "backend:" + std::string(value),
                "backend:native");
  return {};
}

}  // namespace

Result<Settings> parse_settings(std::string_view text) {
  Settings settings;
  for (const std::string_view part : parts_of(text)) {
    const auto colon = part.find(':');
    const auto key = trim(part.substr(0, colon));
    if (std::ranges::find(known_keys, key) == known_keys.end())
      return fail(ErrorKind::usage, "PyTorch's allocator has no such setting", std::string(key),
                  "KEY:VALUE,... as in PYTORCH_CUDA_ALLOC_CONF", suggestion(key, known_keys));
    if (colon == part.npos) return refused(key, "", "KEY:VALUE");
    if (const auto read = read_one(key, trim(part.substr(colon + 1)), settings); !read)
      return tl::unexpected(read.error());
  }
  return settings;
}

std::optional<TorchVersion> parse_torch_version(std::string_view text) {
  const auto first = text.find('.');
  if (first == text.npos) return std::nullopt;
  const auto rest = text.substr(first + 1);
  const auto major = number<int>(text.substr(0, first));
  const auto minor = number<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!major || !minor) return std::nullopt;
  return TorchVersion{*major, *minor};
}

Rules rules_of(const std::optional<TorchVersion>& torch) {
  Rules rules;
  if (!torch) return rules;
  rules.full_fraction_limits = *torch <= TorchVersion{2, 6};
  rules.pools_are_captures = *torch < TorchVersion{2, 15};
  rules.oldest_first = *torch >= TorchVersion{2, 15};
  return rules;
}

}  // namespace ullage::allocator
