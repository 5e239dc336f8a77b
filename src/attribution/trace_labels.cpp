// SPDX-License-Identifier: Apache-2.0
#include "attribution/trace_labels.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "attribution/places.hpp"

namespace ullage::attribution {
namespace {

using timeline::AllocationId;
using timeline::Allocations;
using timeline::CallId;
using timeline::CallKind;
using timeline::no_call;

constexpr std::string_view copies[] = {"aten::to", "aten::_to_copy", "aten::copy_"};

enum class Border : std::uint8_t { optimizer_end, forward, backward, optimizer_begin };

struct Point {
  std::int64_t time_ns;
  Border border;
};

std::vector<Point> borders_of(const timeline::Trace& trace) {
  std::vector<Point> points;
  Places places(trace);
  const auto& calls = trace.calls;
  for (CallId call = 0; call < calls.count(); ++call) {
    if (calls.kind[call] > CallKind::annotation) continue;
    const std::string_view name = trace.strings.text(calls.name[call]);
    if (name.starts_with("Optimizer.step#")) {
      points.push_back({calls.begin_ns[call], Border::optimizer_begin});
      points.push_back({calls.end_ns[call], Border::optimizer_end});
    } else if (places.is_node(call)) {
      points.push_back({calls.begin_ns[call], Border::backward});
    } else if (calls.sequence[call] >= 0 && calls.forward_thread[call] == 0 && places.of(call).node == no_call) {
      points.push_back({calls.begin_ns[call], Border::forward});
    }
  }
  std::ranges::stable_sort(points, {}, &Point::time_ns);
  return points;
}

class Splitter {
 public:
  explicit Splitter(const timeline::TraceTimeline& events) : events_(events) {}

  std::vector<PhaseSpan> run(const std::vector<Point>& points) {
    const bool sequences = std::ranges::any_of(points, [](const Point& p) { return p.border == Border::forward; });
    open(sequences ? PhaseName::other : PhaseName::forward, 0);
    for (const Point& point : points) take(point, sequences);
    spans_.back().end = events_.time_ns.size();
    return std::move(spans_);
  }

 private:
  void take(const Point& point, bool sequences) {
    const PhaseName now = spans_.back().name;
    const std::size_t event =
        static_cast<std::size_t>(std::ranges::lower_bound(events_.time_ns, point.time_ns) - events_.time_ns.begin());
    switch (point.border) {
      case Border::optimizer_begin:
        if (now != PhaseName::optimizer) open(PhaseName::optimizer, event);
        break;
      case Border::optimizer_end:
        ++step_;
        open(sequences ? PhaseName::other : PhaseName::forward, event);
        break;
      case Border::forward:
        if (now == PhaseName::other || now == PhaseName::backward) open(PhaseName::forward, event);
        break;
      case Border::backward:
        if (now == PhaseName::other || now == PhaseName::forward) open(PhaseName::backward, event);
        break;
    }
  }

  void open(PhaseName name, std::size_t event) {
    if (!spans_.empty()) spans_.back().end = event;
    spans_.push_back({name, step_, 0, event, event});
  }

  const timeline::TraceTimeline& events_;
  std::vector<PhaseSpan> spans_;
  std::uint32_t step_ = 1;
};

class TraceLabeler {
 public:
  TraceLabeler(const timeline::Trace& trace, const timeline::TraceTimeline& events, const Allocations& allocations,
               const std::vector<PhaseSpan>& phases)
      : trace_(trace), events_(events), allocations_(allocations), phases_(phases) {
    labels_.of.resize(allocations.count());
    failure_ = timeline::last_out_of_memory(events.timeline).value_or(0);
  }

  Labels run() {
    Places places(trace_);
    const std::vector<CallId> calls = calls_of(allocations_, events_.timeline, trace_);
    for (AllocationId id = 0; id < allocations_.count(); ++id) {
      const Place place = places.of(calls[id]);
      take_place(trace_, place, labels_, id);
      judge(id, place);
    }
    return std::move(labels_);
  }

 private:
  [[nodiscard]] std::string_view name(CallId call) const { return trace_.strings.text(trace_.calls.name[call]); }

  void set(AllocationId id, Category category, AttributedBy by, std::string_view kind = {}) {
    Label& label = labels_.of[id];
    label.category = category, label.by = by;
    if (!kind.empty()) label.kind = labels_.strings.intern(kind);
  }

  void judge(AllocationId id, const Place& place) {
    const bool dies = allocations_.freed[id] != Allocations::never;
    if (allocations_.size[id] == cublas_workspace_bytes && !dies)
      return set(id, Category::workspaces, AttributedBy::size, "cuBLAS");
    if (phases_.empty() || (allocations_.older(id) && !dies)) return;
    const std::size_t death = dies ? phase_at(phases_, allocations_.freed[id]) : phases_.size();
    if (allocations_.older(id)) {
      if (phases_[death].name == PhaseName::optimizer) set(id, Category::optimizer_state, AttributedBy::lifetime);
      return;
    }
    const std::size_t birth = phase_at(phases_, allocations_.born[id]);
    switch (phases_[birth].name) {
      case PhaseName::optimizer:
        return set(id, birth == death ? Category::temporaries : Category::optimizer_state, AttributedBy::annotation);
      case PhaseName::backward:
        return judge_backward(id, place, birth, death);
      case PhaseName::forward:
        return judge_forward(id, birth, death);
      default:
        return judge_other(id, place, birth, death);
    }
  }

  void judge_backward(AllocationId id, const Place& place, std::size_t birth, std::size_t death) {
    if (place.recomputed && birth == death) return set(id, Category::activations, by_place(id), "recomputed");
    if (place.node == no_call) return;
    if (birth == death) return set(id, Category::temporaries, by_place(id));
    for (std::size_t next = birth + 1; next < phases_.size() && next <= death; ++next) {
      if (phases_[next].name == PhaseName::optimizer) return set(id, Category::gradients, AttributedBy::lifetime);
    }
  }

  void judge_forward(AllocationId id, std::size_t birth, std::size_t death) {
    if (birth == death) return set(id, Category::temporaries, by_place(id));
    const bool next_backward = birth + 1 < phases_.size() && phases_[birth + 1].name == PhaseName::backward;
    const bool failed = birth + 1 == phases_.size() && allocations_.born[id] < failure_;
    if (failed || (next_backward && death == birth + 1))
      set(id, Category::activations, by_place(id), "saved for backward");
  }

  void judge_other(AllocationId id, const Place& place, std::size_t birth, std::size_t death) {
    if (birth == death) return set(id, Category::temporaries, by_place(id));
    const bool copied =
        place.operation != no_call && std::ranges::find(copies, name(place.operation)) != std::end(copies);
    if (copied && death < phases_.size()) set(id, Category::inputs, AttributedBy::lifetime, "not named");
  }

  [[nodiscard]] AttributedBy by_place(AllocationId id) const {
    return labels_.of[id].module != 0 ? AttributedBy::module : AttributedBy::lifetime;
  }

  const timeline::Trace& trace_;
  const timeline::TraceTimeline& events_;
  const Allocations& allocations_;
  const std::vector<PhaseSpan>& phases_;
  Labels labels_;
  std::size_t failure_ = 0;
};

}  // namespace

std::vector<PhaseSpan> phases_of(const timeline::Trace& trace, const timeline::TraceTimeline& events) {
  const std::vector<Point> points = borders_of(trace);
  const bool told = std::ranges::any_of(points, [](const Point& point) { return point.border != Border::forward; });
  if (!told) return {{PhaseName::run, 0, 0, 0, events.time_ns.size()}};
  return Splitter(events).run(points);
}

Labels label_trace(const timeline::Trace& trace, const timeline::TraceTimeline& events, const Allocations& allocations,
                   const std::vector<PhaseSpan>& phases) {
  return TraceLabeler(trace, events, allocations, phases).run();
}

}  // namespace ullage::attribution
