// SPDX-License-Identifier: Apache-2.0
// Reads the JSON that torch.profiler exports (Chrome trace format as Kineto writes it, torch 1.8 to 2.15) into a Trace.
// Source of the layout: torch/csrc/autograd/profiler_kineto.cpp, pytorch/kineto output_json.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "ingest/file/source.hpp"
#include "timeline/trace.hpp"

namespace ullage::ingest {

struct KinetoOptions {
  bool shapes = true;  ///< keep the input shapes
  bool stacks = true;  ///< keep call stacks
};

struct KinetoTrace {
  timeline::Trace trace;     ///< linked
  std::uint64_t events = 0;  ///< of all kinds, those not kept included
  std::uint64_t memory_events = 0;
  std::uint64_t bad_events = 0;      ///< without what their kind needs; left out
  std::uint64_t repaired = 0;        ///< characters that JSON forbids, replaced
  bool says_profile_memory = false;  ///< the header's profile_memory
  bool has_totals = false;           ///< memory events carry the allocator's totals
  bool has_addresses = false;
  std::string note;             ///< the trace's own word about itself (metadata `ullage`); empty when there is none
  std::optional<Error> damage;  ///< where reading ended, when before the end; what came before is here
  [[nodiscard]] bool partial() const { return damage.has_value(); }
};

/// Whether the first bytes look like such a trace.
bool looks_like_kineto(std::string_view head);

/// Reads a trace. Memory is proportional to the calls and memory events, not to the text. Errors (`bad_input`): no
/// JSON, or JSON without traceEvents; `io`: what `open` says. A text that breaks off is no error when events came
/// before: see `damage`. Control characters, wrong escapes and quotes inside texts are replaced and counted; the source
/// is then read a second time, so `open` must be able to give it twice.
Result<KinetoTrace> read_kineto(const std::function<Result<Source>()>& open, const KinetoOptions& options = {});

/// The same from memory (compressed or not); `name` stands for the path in messages.
Result<KinetoTrace> read_kineto(std::span<const std::byte> bytes, const std::string& name,
                                const KinetoOptions& options = {});

/// The same from a file.
Result<KinetoTrace> read_kineto_file(const std::string& path, const KinetoOptions& options = {});

}  // namespace ullage::ingest
