// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.hpp"
#include "report/text/sections.hpp"

#include <fmt/format.h>

namespace ullage::report {
namespace {

std::string graphs_text(const CompilerInfo& compiler) {
  return fmt::format("{} graph{}, {} compiled anew, {} kernels timed on the device", compiler.graphs,
                     compiler.graphs == 1 ? "" : "s", compiler.compiled, compiler.timed);
}

std::string cache_text(const CompilerInfo& compiler) {
  if (compiler.cache == "warm") return "all figures are of warm caches";
  if (compiler.cache == "cold") return "all figures are of cold caches: buffers for timing kernels are among them";
  return "the caches were filled before, and yet not everything came from them: buffers for timing kernels are among "
         "the "
         "figures";
}

}  // namespace

std::string compiler_section(const RunResult& r) {
  if (!r.compiler) return {};
  const auto& compiler = *r.compiler;
  std::string text = fmt::format("\nTORCH.COMPILE\n{}\n{}\n", graphs_text(compiler), cache_text(compiler));
  if (compiler.cold_peak_reserved_bytes)
    text += fmt::format("with cold caches the peaks were {} allocated and {} reserved\n",
                        format_bytes(compiler.cold_peak_allocated_bytes.value_or(0)),
                        format_bytes(*compiler.cold_peak_reserved_bytes));
  return text;
}

}  // namespace ullage::report
