// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"

namespace ullage::ingest {
namespace {

// A CUDA context with its loaded modules; larger ones exist, so this only keeps small remainders from being called
// growth.
constexpr std::int64_t usual_context = std::int64_t{1} << 30;

SizeInterval interval(const PrintedSize& size) {
  return {static_cast<std::int64_t>(size.low), static_cast<std::int64_t>(size.high)};
}

std::string text_of(SizeInterval interval) {
  const std::string low = format_signed_bytes(std::max<std::int64_t>(interval.low, 0));
  const std::string high = format_signed_bytes(std::max<std::int64_t>(interval.high, 0));
  return low == high ? low : low + " to " + high;
}

class Judge {
 public:
  explicit Judge(const OomMessage& message) : m_(message) {
    requested_ = m_.requested ? interval(*m_.requested) : SizeInterval{};
    free_ = m_.free ? interval(*m_.free) : SizeInterval{};
  }

  Diagnosis run() {
    const bool found = m_.backend == OomBackend::cpu ? host()
                                                     : bare() || impossible() || limited() || others() || refused() ||
                                                           idle() || outside() || full();
    if (!found) out_.reason = "the text states no numbers";
    if (out_.kind != FailureKind::fragmentation) say_idle();
    say_odd();
    return std::move(out_);
  }

 private:
  bool set(FailureKind kind, bool certain, std::string reason, FirstChange change) {
    out_.kind = kind, out_.certain = certain;
    out_.reason = std::move(reason), out_.change = std::move(change);
    return true;
  }

  bool host() {
    return set(FailureKind::host_memory, true,
               fmt::format("the machine's own memory could not give {}",
                           m_.requested ? m_.requested->printed : std::string("what was asked for")),
               {"fewer or smaller workers and batches on the host, or a machine with more memory", std::nullopt});
  }

  bool bare() {
    if (m_.requested) return false;
    return set(FailureKind::unknown, false, "the text states no request",
               {m_.wording == "error" || m_.wording == "cublas"
                    ? "see with nvidia-smi who holds the device; a library asked the driver itself, beside PyTorch"
                    : "a text with its numbers: torch prints them behind 'Tried to allocate'",
                std::nullopt});
  }

  bool impossible() {
    if (!m_.capacity || m_.requested->low <= m_.capacity->high) return false;
    const double times = static_cast<double>(m_.requested->bytes) / static_cast<double>(m_.capacity->bytes);
    return set(FailureKind::impossible_request, true,
               fmt::format("one request of {} is {:.1f} times the device's {}", m_.requested->printed, times,
                           m_.capacity->printed),
               {"find the shape behind this one request: a length, a mask or a gathered tensor is larger than meant",
                requested_});
  }

  // Below the limit, the device itself may have room.
  bool limited() {
    if (!m_.limit || (m_.capacity && m_.limit->high >= m_.capacity->high)) return false;
    if (m_.backend == OomBackend::mps) return watermark();
    if (m_.free && free_.high < requested_.low) return false;
    return set(FailureKind::fraction_limit, m_.free.has_value(),
               fmt::format("a limit of {} is set for this process, and the device could have given {}",
                           m_.limit->printed, m_.requested->printed),
               {"raise the limit (torch.cuda.set_per_process_memory_fraction, or per_process_memory_fraction in the "
                "allocator's settings)",
                std::nullopt});
  }

  bool watermark() {
    const auto others = m_.other_allocations ? m_.other_allocations->bytes : 0;
    if (m_.allocated && others > m_.allocated->bytes)
      return set(FailureKind::other_process, false,
                 fmt::format("{} of the {} that are allowed are held by others than PyTorch",
                             m_.other_allocations->printed, m_.limit->printed),
                 {"close what else uses the GPU", interval(*m_.other_allocations)});
    return set(FailureKind::true_capacity, true,
               fmt::format("{} are held of the {} that are allowed",
                           m_.allocated ? m_.allocated->printed : std::string("they"), m_.limit->printed),
               smaller());
  }

  bool others() {
    SizeInterval sum;
    std::string who;
    for (const ProcessMemory& process : m_.processes) {
      if (!process.bytes || sum.high > std::int64_t{1} << 60) continue;
      sum.low += static_cast<std::int64_t>(process.bytes->low);
      sum.high += static_cast<std::int64_t>(process.bytes->high);
      who += fmt::format("{}process {} {}", who.empty() ? "" : ", ", process.pid, process.bytes->printed);
    }
    const auto derived = m_.other_processes();
    if (who.empty() && derived && derived->low > usual_context)
      sum = *derived, who = "processes the text does not name";
    if (sum.low == 0 || sum.low + free_.low < requested_.low || sum.low < usual_context / 4) return false;
    return set(FailureKind::other_process, true,
               fmt::format("other processes hold {} ({}); with it the request would have fitted", text_of(sum), who),
               {"end the other process, or take another GPU", sum});
  }

  bool refused() {
    if (!m_.free || free_.low < 2 * requested_.high) return false;
    return set(
        FailureKind::driver_fault, false,
        fmt::format("{} were refused although {} are free: a fault of the driver, a limit that the text does not "
                    "state, or memory that another process took for a moment",
                    m_.requested->printed, m_.free->printed),
        {"look for a memory fraction that the script sets, then start again on a GPU that nvidia-smi shows empty",
         std::nullopt});
  }

  bool idle() {
    const auto reserved = m_.reserved();
    std::optional<SizeInterval> idle;
    if (m_.unallocated) idle = interval(*m_.unallocated);
    if (m_.reserved_total && m_.allocated)
      idle = SizeInterval{
          static_cast<std::int64_t>(m_.reserved_total->low) - static_cast<std::int64_t>(m_.allocated->high),
          static_cast<std::int64_t>(m_.reserved_total->high) - static_cast<std::int64_t>(m_.allocated->low)};
    idle_ = idle;
    const auto pools = m_.private_pools ? interval(*m_.private_pools) : SizeInterval{};
    if (m_.private_pools && pools.low >= requested_.low && (!idle || pools.low > idle->low))
      return set(FailureKind::private_pool_idle, false,
                 fmt::format("{} lie idle in private pools, as CUDA graphs keep them", m_.private_pools->printed),
                 {"capture fewer shapes, or let the graphs share one pool (graph_pool_handle)", pools});
    if (!idle || !reserved || idle->low < requested_.high || idle->low * 20 < static_cast<std::int64_t>(reserved->low))
      return false;
    return set(FailureKind::fragmentation, false,
               fmt::format("{} are reserved but not allocated, more than the {} asked for: no piece of it was large "
                           "enough (or it belongs to another stream or pool, which the text does not tell)",
                           text_of(*idle), m_.requested->printed),
               {setting(), SizeInterval{0, idle->high}});
  }

  // Expandable segments came with torch 2.1; older versions refuse the word.
  [[nodiscard]] std::string setting() const {
    const std::string variable =
        m_.variable.find("ALLOC_CONF") != m_.variable.npos ? m_.variable : "PYTORCH_CUDA_ALLOC_CONF";
    if (m_.torch == "1.0 to 1.3")
      return "a newer torch: from 2.1 on there is " + variable + "=expandable_segments:True";
    if (m_.torch == "1.4 to 2.0") return variable + "=max_split_size_mb:128";  // since 1.10
    return variable + "=expandable_segments:True";
  }

  bool outside() {
    const auto own = m_.own_outside_pytorch();
    const auto rest = own ? own : m_.outside_pytorch();
    if (!rest || !m_.capacity) return false;
    const auto tenth = static_cast<std::int64_t>(m_.capacity->low / 10);
    if (rest->low < std::max(2 * usual_context, tenth) || rest->low - usual_context + free_.low < requested_.low)
      return false;
    if (own)
      return set(
          FailureKind::non_pytorch_growth, true,
          fmt::format("this process holds {} that PyTorch's allocator did not reserve", text_of(*own)),
          {"look at NCCL's buffers and at libraries that allocate by themselves; a context alone takes less than "
           "1 GiB",
           SizeInterval{own->low - usual_context, own->high}});
    return set(
        FailureKind::other_process, false,
        fmt::format("{} are held outside PyTorch: by another process, or by libraries of this one", text_of(*rest)),
        {"see with nvidia-smi who holds them, and end it or take another GPU",
         SizeInterval{rest->low - usual_context, rest->high}});
  }

  bool full() {
    const auto reserved = m_.reserved();
    const auto held = m_.allocated ? m_.allocated : reserved;
    std::string reason = fmt::format("{} more were asked for", m_.requested->printed);
    if (held && m_.capacity)
      reason = fmt::format("PyTorch's tensors hold {} of {}, and {}", held->printed, m_.capacity->printed, reason);
    if (m_.free && m_.capacity && held) {
      const SizeInterval missing{requested_.low - free_.high, requested_.high - free_.low};
      if (missing.low > 0) reason += fmt::format("; {} are missing at this point alone", text_of(missing));
      return set(FailureKind::true_capacity, true, reason, smaller());
    }
    const bool known = m_.capacity.has_value();
    return set(known ? FailureKind::true_capacity : FailureKind::unknown, false,
               known ? reason : "the text states the request alone", smaller());
  }

  static FirstChange smaller() {
    return {
        "rehearse the script and read the ledger: the text does not say whose the memory is. A smaller micro batch "
        "helps if activations are",
        std::nullopt};
  }

  void say_idle() {
    if (idle_ && m_.requested && idle_->low >= static_cast<std::int64_t>(m_.requested->high))
      out_.beside.push_back(
          fmt::format("{} are reserved but not allocated, in pieces that were too small", text_of(*idle_)));
    if (const auto rest = m_.outside_pytorch();
        rest && rest->low > 2 * usual_context && out_.kind != FailureKind::other_process)
      out_.beside.push_back(fmt::format("{} are held outside PyTorch", text_of(*rest)));
  }

  void say_odd() {
    if (m_.free && m_.requested && free_.low > requested_.high && out_.kind == FailureKind::true_capacity)
      out_.beside.push_back(
          fmt::format("more is free ({}) than was asked for: something else took or gave it back at the "
                      "same time, or it is not in one piece",
                      m_.free->printed));
    if (!m_.in_use_printed.empty())
      out_.beside.push_back(
          fmt::format("'{} memory in use' cannot be true and is taken as unknown (containers and WSL "
                      "do not show it)",
                      m_.in_use_printed));
    if (m_.private_pools)
      out_.beside.push_back(
          fmt::format("the {} of private pools are idle; PyTorch prints them as part of what is allocated",
                      m_.private_pools->printed));
    if (const auto rest = m_.outside_pytorch(); rest && rest->high < 0)
      out_.beside.push_back("the numbers contradict each other: free and reserved are more than the capacity");
  }

  const OomMessage& m_;
  SizeInterval requested_, free_;
  std::optional<SizeInterval> idle_;
  Diagnosis out_;
};

}  // namespace

const char* name_of(FailureKind kind) {
  constexpr const char* names[] = {
      "impossible_request", "true_capacity",  "fragmentation", "private_pool_idle", "other_process",
      "non_pytorch_growth", "fraction_limit", "driver_fault",  "host_memory",       "unknown"};
  return names[static_cast<std::size_t>(kind)];
}

const char* title_of(FailureKind kind) {
  constexpr const char* titles[] = {"one absurd request",
                                    "plain lack of memory",
                                    "fragmentation",
                                    "idle private pools",
                                    "another process",
                                    "memory outside PyTorch",
                                    "a limit below the device's memory",
                                    "refused although memory is free",
                                    "lack of host memory",
                                    "an out-of-memory error"};
  return titles[static_cast<std::size_t>(kind)];
}

Diagnosis diagnose(const OomMessage& message) {
  return Judge(message).run();
}

}  // namespace ullage::ingest
