// SPDX-License-Identifier: Apache-2.0
// Flags that choose runs of the history.
#pragma once

#include "apps/ullage/flags.hpp"
#include "base/result.hpp"
#include "store/filter.hpp"

#include <array>
#include <span>

namespace ullage::cli {

/// Commands with these flags have them in front of their own.
inline constexpr std::array filter_flags = {
    Flag{"name", "NAME[,..]", "runs of this name", FlagKind::text},
    Flag{"script", "PATH", "runs of this script: its path, the end of it, or a pattern with * and ?", FlagKind::text},
    Flag{"gpu", "NAME[,..]", "runs for these GPUs", FlagKind::text},
    Flag{"verdict", "V[,..]", "fits, tight, oom, failed or timeout", FlagKind::text},
    Flag{"kind", "KIND", "rehearsal or recording", FlagKind::text},
    Flag{"since", "TIME", "started then or later: 2026-11-30, 2026-11-30T15:15, or an age such as 7d or 12h",
         FlagKind::text},
    Flag{"until", "TIME", "started before then", FlagKind::text},
    Flag{"where", "KEY=VALUE", "runs with this setting: --where --batch=4; may be given several times", FlagKind::text},
};

/// The filter flags and others, as one table.
template <std::size_t count>
constexpr auto with_filters(const Flag (&own)[count]) {
  std::array<Flag, filter_flags.size() + count> all{};
  for (std::size_t i = 0; i < filter_flags.size(); ++i) all[i] = filter_flags[i];
  for (std::size_t i = 0; i < count; ++i) all[filter_flags.size() + i] = own[i];
  return all;
}

/// Errors: `usage` for an unknown GPU, verdict, kind or time, and a setting without a value.
[[nodiscard]] Result<store::Filter> filter_of(const Arguments& arguments);

}  // namespace ullage::cli
