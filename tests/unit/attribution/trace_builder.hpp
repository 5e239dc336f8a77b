// SPDX-License-Identifier: Apache-2.0
// A trace made by hand.
#pragma once

#include <cstdint>
#include <string>

#include "timeline/trace.hpp"

namespace ullage::attribution {

using timeline::CallId;
using timeline::CallKind;
using timeline::no_call;
using timeline::Trace;

struct TraceBuilder {
  Trace trace;
  void call(const char* name, std::int64_t begin, std::int64_t end, std::uint64_t thread = 1,
            std::int32_t sequence = -1, std::uint8_t forward_thread = 0, CallKind kind = CallKind::operation) {
    trace.calls.push_back(
        {trace.strings.intern(name), begin, end, trace.thread_index(thread), 0, sequence, 0, 0, kind, forward_thread});
  }
  void module(const char* name, std::int64_t begin, std::int64_t end, std::uint64_t thread = 1) {
    call(name, begin, end, thread, -1, 0, CallKind::module);
  }
  [[nodiscard]] CallId find(const char* name) const {
    for (CallId i = 0; i < trace.calls.count(); ++i) {
      if (trace.strings.text(trace.calls.name[i]) == name) return i;
    }
    return no_call;
  }
  [[nodiscard]] std::string text(CallId call) const {
    return call == no_call ? "none" : std::string(trace.strings.text(trace.calls.name[call]));
  }
};

}  // namespace ullage::attribution
