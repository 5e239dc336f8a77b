// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "base/text.hpp"
#include "report/text/sections.hpp"

#include <fmt/format.h>

namespace ullage::report {

std::string storage_copies_section(const RunResult& r) {
  constexpr std::size_t shown = 8;
  if (r.storage_copies.empty()) return {};
  Table table({{"copy"},
               {"times", Align::right},
               {"bytes", Align::right},
               {"at the peak", Align::right},
               {"lives as"},
               {"module"},
               {"line"}});
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i < r.storage_copies.size(); ++i) {
    const auto& copy = r.storage_copies[i];
    if (i >= shown) {
      rest += copy.bytes;
      continue;
    }
    table.add({ledger::name_of(copy.kind), std::to_string(copy.count), format_bytes(copy.bytes),
               format_bytes(copy.at_peak), copy.lives, copy.module,
               copy.line.empty() ? "(no Python frame)" : copy.line});
  }
  std::string text =
      fmt::format("\nSTORAGE COPIES {}\n",
                  r.storage_copies_step > 0 ? fmt::format("in step {}", r.storage_copies_step) : "in the run");
  text += table.text();
  if (r.storage_copies.size() > shown)
    text += fmt::format("and {} more, {}\n", r.storage_copies.size() - shown, format_bytes(rest));
  return text + fmt::format("{} operators only made a view, which costs nothing\n", r.view_calls);
}

}  // namespace ullage::report
