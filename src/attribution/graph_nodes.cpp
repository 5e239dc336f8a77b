// SPDX-License-Identifier: Apache-2.0
#include "attribution/graph_nodes.hpp"

#include <algorithm>

namespace ullage::attribution {

using timeline::CallId;
using timeline::no_call;

GraphNodes::GraphNodes(const timeline::Trace& trace) : trace_(trace), places_(trace), last_(trace.threads.size(), -1) {
  const auto& calls = trace.calls;
  for (CallId i = 0; i < calls.count(); ++i) {
    if (calls.forward_thread[i] == 0 && !places_.is_node(i))
      last_[calls.thread[i]] = std::max(last_[calls.thread[i]], calls.sequence[i]);
  }
}

// What checkpointing computes again makes nodes that nobody needs.
bool GraphNodes::inside_backward(CallId call) const {
  while (call != no_call && !places_.is_node(call)) call = trace_.calls.parent[call];
  return call != no_call;
}

GraphNodes::Fate GraphNodes::fate_of(CallId call) const {
  const auto& calls = trace_.calls;
  while (call != no_call && calls.sequence[call] < 0) call = calls.parent[call];
  if (call == no_call || inside_backward(call)) return Fate::unknown;
  const std::uint32_t thread = calls.thread[call];
  const std::int32_t number = calls.sequence[call];
  if (places_.forward_with(thread, number) != call || last_[thread] <= number) return Fate::unknown;
  return places_.ran(thread, number) ? Fate::ran : Fate::never_ran;
}

}  // namespace ullage::attribution
