// SPDX-License-Identifier: Apache-2.0
#include "ingest/oom_message/oom_grammar.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace ullage::ingest {
namespace {

constexpr std::string_view out_of_memory = "outofmemory";
constexpr std::string_view exceeds = "wouldexceedallowedmemory";
constexpr std::string_view host = "youtriedtoallocate";
constexpr std::string_view cublas = "cublas_status_alloc_failed";

bool digit(char c) {
  return c >= '0' && c <= '9';
}

class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  bool eat(std::string_view word) {
    if (!text_.substr(std::min(at_, text_.size())).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void skip(std::string_view characters) {
    while (at_ < text_.size() && characters.find(text_[at_]) != characters.npos) ++at_;
  }
  std::string number() {
    const std::size_t first = at_;
    while (at_ < text_.size() && digit(text_[at_])) ++at_;
    if (at_ > first && at_ + 1 < text_.size() && text_[at_] == '.' && digit(text_[at_ + 1])) {
      for (++at_; at_ < text_.size() && digit(text_[at_]);) ++at_;
    }
    return std::string(text_.substr(first, at_ - first));
  }
  // A number with its unit; `unit` is left empty when there is none.
  std::pair<std::string, std::string> size() {
    const std::size_t before = at_;
    std::string value = number();
    if (value.empty()) return {};
    for (const std::string_view unit : {"bytes", "byte", "kib", "mib", "gib", "tib", "kb", "mb", "gb"}) {
      if (eat(unit)) return {std::move(value), std::string(unit)};
    }
    at_ = before;
    return {};
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  void back_to(std::size_t at) { at_ = at; }
  [[nodiscard]] bool done() const { return at_ >= text_.size(); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }

 private:
  std::string_view text_;
  std::size_t at_;
};

using Slot = std::optional<PrintedSize> OomMessage::*;

// A size with fixed words in front of it or behind it.
struct Clause {
  std::string_view before, after;
  Slot slot;
};
constexpr std::array<Clause, 26> clauses = {{
    {"triedtoallocate", "", &OomMessage::requested},
    {"npuworkspaceallocatortriedtoallocate", "", &OomMessage::requested},
    {"requested:", "", &OomMessage::requested},
    {"", "totalcapacity", &OomMessage::capacity},
    {"hasatotalcapacityof", "", &OomMessage::capacity},
    {"hasatotalcapactyof", "", &OomMessage::capacity},
    {"devicelimit:", "", &OomMessage::capacity},
    {"ofwhich", "isfree", &OomMessage::free},
    {"", "free", &OomMessage::free},
    {"free(accordingtocuda):", "", &OomMessage::free},
    {"", "alreadyallocated", &OomMessage::allocated},
    {"oftheallocatedmemory", "isallocatedbypytorch", &OomMessage::allocated},
    {"currentlyallocated:", "", &OomMessage::allocated},
    {"mpsallocated:", "", &OomMessage::allocated},
    {"", "cached", &OomMessage::unallocated},
    {"and", "isreservedbypytorchbutunallocated", &OomMessage::unallocated},
    {"", "isreservedbypytorchbutunallocated", &OomMessage::unallocated},
    {"", "reservedintotalbypytorch", &OomMessage::reserved_total},
    {"", "currentactive", &OomMessage::active},
    {"", "allowed", &OomMessage::limit},
    {"maxallowed:", "", &OomMessage::limit},
    {"pytorchlimit(setbyuser-suppliedmemoryfraction):", "", &OomMessage::limit},
    {"includingnon-pytorchmemory,thisprocesshas", "memoryinuse", &OomMessage::in_use},
    {"with", "allocatedinprivatepools(e.g.,cudagraphs)", &OomMessage::private_pools},
    {"with", "allocatedinprivatepools", &OomMessage::private_pools},
    {"otherallocations:", "", &OomMessage::other_allocations},
}};

class Reader {
 public:
  Reader(std::string_view text, std::size_t at, OomMessage& out) : cursor_(text, at), out_(out) {}

  void run() {
    for (;;) {
      const std::size_t before = cursor_.at();
      cursor_.skip(".,;()[]");
      if (cursor_.eat("restmissing")) {
        out_.cut = true;
      } else if (!clause() && !process() && !device() && !cursor_.eat("onsharedpool") &&
                 !cursor_.eat("onprivatepool")) {
        cursor_.back_to(before);
        break;
      }
    }
    read_advice();
  }
  [[nodiscard]] std::size_t at() const { return cursor_.at(); }

 private:
  bool clause() {
    for (const Clause& clause : clauses) {
      const std::size_t before = cursor_.at();
      if (cursor_.eat(clause.before)) {
        const auto [number, unit] = cursor_.size();
        if (!number.empty() && cursor_.eat(clause.after)) return take(clause, number, unit);
      }
      cursor_.back_to(before);
    }
    return false;
  }

  bool take(const Clause& clause, const std::string& number, const std::string& unit) {
    misspelt_ |= clause.before == "hasatotalcapactyof";
    of_which_ |= clause.before == "ofwhich";
    cached_ |= clause.after == "cached";
    auto& slot = out_.*clause.slot;
    if (!slot) slot = printed_size(number, unit);
    if (clause.slot == &OomMessage::in_use && (!slot || slot->bytes == 0)) {
      out_.in_use_printed = number + " " + printed_unit(unit);
      slot.reset();
    }
    return true;
  }

  bool process() {
    const std::size_t before = cursor_.at();
    if (!cursor_.eat("process")) return false;
    ProcessMemory process;
    if (cursor_.eat("<pid>")) {
      process.pid = "<pid>";
    } else {
      process.pid = cursor_.number();
    }
    if (!process.pid.empty() && cursor_.eat("has")) {
      const auto [number, unit] = cursor_.size();
      if (!number.empty() && cursor_.eat("memoryinuse")) {
        process.bytes = printed_size(number, unit);
        process.printed = number + " " + printed_unit(unit);
        if (process.bytes && process.bytes->bytes == 0) process.bytes.reset();
        if (out_.processes.size() < 64) out_.processes.push_back(std::move(process));
        return true;
      }
    }
    cursor_.back_to(before);
    return false;
  }

  // `GPU 3` and, in front of a size, `GPU ?`.
  bool device() {
    const std::size_t before = cursor_.at();
    if (cursor_.eat("gpu") || cursor_.eat("npu") || cursor_.eat("xpu") || cursor_.eat("device")) {
      const std::size_t first = cursor_.at();
      const std::string number = cursor_.number();
      if (!number.empty() && number.size() < 6 && number.find('.') == number.npos) out_.gpu = std::stoi(number);
      if (cursor_.at() > first || cursor_.eat("?")) return true;
    }
    cursor_.back_to(before);
    return false;
  }

  // The advice stands behind the numbers; which variable it names tells versions apart.
  void read_advice() {
    const std::string_view rest = cursor_.rest().substr(0, 900);
    const std::string_view until = rest.substr(0, std::min(rest.find(out_of_memory), rest.size()));
    for (const std::string_view name : {"pytorch_cuda_alloc_conf", "pytorch_hip_alloc_conf", "pytorch_alloc_conf",
                                        "pytorch_npu_alloc_conf", "pytorch_mps_high_watermark_ratio"}) {
      if (until.find(name) == until.npos) continue;
      for (const char c : name) out_.variable += static_cast<char>(c == '_' ? c : c - 'a' + 'A');
      break;
    }
    name_wording();
    const bool f3 = out_.wording.starts_with("F3"), f2 = out_.wording.starts_with("F2");
    out_.cut |= (f3 && (!out_.allocated || !out_.unallocated)) || (f2 && !out_.reserved_total);
  }

  void name_wording() {
    if (!out_.wording.empty()) return;
    if (misspelt_) {
      out_.wording = "F3-capacty", out_.torch = "2.1";
    } else if (out_.private_pools) {
      out_.wording = "F3-pools", out_.torch = "2.2 or newer";
    } else if (of_which_) {
      out_.wording = "F3", out_.torch = "2.2 or newer";
    } else if (cached_) {
      out_.wording = "F1", out_.torch = "1.0 to 1.3";
    } else if (out_.backend == OomBackend::npu && out_.capacity) {
      out_.wording = "F4";
    } else if (out_.backend == OomBackend::mps && out_.limit) {
      out_.wording = "mps";
    } else if (out_.reserved_total || out_.capacity) {
      out_.wording = "F2", out_.torch = "1.4 to 2.0";
    } else {
      out_.wording = "short";
    }
    if (out_.backend == OomBackend::hip || out_.backend == OomBackend::xpu || out_.backend == OomBackend::npu)
      out_.wording += std::string("-") + name_of(out_.backend);
  }

  Cursor cursor_;
  OomMessage& out_;
  bool misspelt_ = false, of_which_ = false, cached_ = false;
};

struct BackendName {
  std::string_view words;
  OomBackend backend;
};
constexpr std::array<BackendName, 7> backends = {{{"mpsbackend", OomBackend::mps},
                                                  {"mps", OomBackend::mps},
                                                  {"cuda", OomBackend::cuda},
                                                  {"hip", OomBackend::hip},
                                                  {"xpu", OomBackend::xpu},
                                                  {"npu", OomBackend::npu},
                                                  {"musa", OomBackend::other}}};

// Errors that carry no number: `CUDA error: out of memory`, `Cuda failure 2 'out of memory'`.
constexpr std::array<BackendName, 5> bare_errors = {{{"cudaerror:", OomBackend::cuda},
                                                     {"cudafailure'", OomBackend::cuda},
                                                     {"cudafailure2'", OomBackend::cuda},
                                                     {"hiperror:", OomBackend::hip},
                                                     {"hipfailure'", OomBackend::hip}}};

template <std::size_t N>
const BackendName* ending_of(std::string_view text, const std::array<BackendName, N>& names) {
  const auto found = std::ranges::find_if(names, [&](const BackendName& name) { return text.ends_with(name.words); });
  return found == names.end() ? nullptr : &*found;
}

// What is larger than the device, or than any device, is an artefact of the platform.
void drop_absurd(OomMessage& message) {
  constexpr std::uint64_t largest_device = std::uint64_t{1} << 44;
  const std::uint64_t most = message.capacity && message.capacity->high > 0 ? message.capacity->high : largest_device;
  if (message.in_use && message.in_use->low > most) {
    message.in_use_printed = message.in_use->printed;
    message.in_use.reset();
  }
  for (ProcessMemory& process : message.processes) {
    if (process.bytes && process.bytes->low > most) process.bytes.reset();
  }
  if (message.limit && message.limit->low > largest_device) message.limit.reset();
  if (message.other_allocations && message.other_allocations->low > largest_device) message.other_allocations.reset();
}

// A process list without this process: where one of the "others" must hold PyTorch's own segments, it is this one, seen
// under another number (containers number processes by themselves).
void find_own_process(OomMessage& message) {
  const auto reserved = message.reserved();
  if (message.in_use || !message.in_use_printed.empty() || !reserved || !message.capacity || !message.free) return;
  if (reserved->low == 0) return;
  std::uint64_t all = reserved->low;
  for (const ProcessMemory& process : message.processes) all += process.bytes ? process.bytes->low : 0;
  if (all <= message.capacity->high - std::min(message.capacity->high, message.free->low)) return;
  auto own = message.processes.end();
  for (auto it = message.processes.begin(); it != message.processes.end(); ++it) {
    if (!it->bytes || it->bytes->high < reserved->low) continue;
    if (own == message.processes.end() || it->bytes->bytes < own->bytes->bytes) own = it;
  }
  if (own == message.processes.end()) return;
  message.in_use = own->bytes;
  message.processes.erase(own);
}

std::optional<OomMessage> parse_numbers(std::string_view text, std::size_t at, OomMessage message, std::size_t& end) {
  Reader reader(text, at, message);
  reader.run();
  end = std::max(at, reader.at());
  drop_absurd(message);
  find_own_process(message);
  return message;
}

std::optional<OomMessage> parse_host(std::string_view text, const OomStart& start, std::size_t& end) {
  Cursor cursor(text, start.after);
  const auto [number, unit] = cursor.size();
  const std::string_view before = text.substr(start.begin, start.trigger - start.begin);
  const bool known = before.find("allocatememory") != before.npos || before.find("notenoughmemory") != before.npos;
  if (number.empty() || !known) return std::nullopt;
  OomMessage message;
  message.backend = OomBackend::cpu;
  message.wording = "cpu";
  message.requested = printed_size(number, unit);
  end = cursor.at();
  return message;
}

std::optional<OomMessage> parse_async(std::string_view text, const OomStart& start, std::size_t& end) {
  OomMessage message;
  message.backend = OomBackend::cuda;
  message.wording = "async";
  Cursor device(text, start.begin);
  if (device.eat("allocationondevice")) {
    const std::string number = device.number();
    if (!number.empty() && number.size() < 6) message.gpu = std::stoi(number);
  }
  Cursor cursor(text, start.after);
  cursor.skip(".(");
  cursor.eat(out_of_memory);
  cursor.skip(").");
  return parse_numbers(text, cursor.at(), std::move(message), end);
}

}  // namespace

std::optional<OomStart> find_oom(std::string_view text, std::size_t from) {
  std::size_t best = text.npos;
  std::string_view word;
  for (const std::string_view trigger : {out_of_memory, exceeds, host, cublas}) {
    const std::size_t at = text.find(trigger, from);
    if (at < best) best = at, word = trigger;
  }
  if (best == text.npos) return std::nullopt;
  const std::size_t begin = best - std::min<std::size_t>(best - std::min(from, best), 80);
  OomStart start{begin, best, best + word.size()};
  if (word == exceeds) {
    const std::size_t device = text.substr(0, best).rfind("allocationondevice");
    start.begin = device != text.npos && best - device < 40 ? device : best;
  }
  return start;
}

std::optional<OomMessage> parse_oom(std::string_view text, const OomStart& start, std::size_t& end) {
  end = start.after;
  const std::string_view word = text.substr(start.trigger, start.after - start.trigger);
  if (word == host) return parse_host(text, start, end);
  if (word == exceeds) return parse_async(text, start, end);
  OomMessage message;
  const std::string_view before = text.substr(start.begin, start.trigger - start.begin);
  if (const auto* bare = ending_of(before, bare_errors); bare != nullptr || word == cublas) {
    message.backend = bare != nullptr ? bare->backend : OomBackend::cuda;
    message.wording = word == cublas ? "cublas" : "error";
    return message;
  }
  const auto* backend = ending_of(before, backends);
  const std::string_view after = text.substr(start.after);
  if (after.starts_with("error") || after.starts_with("exception")) return std::nullopt;
  if (backend != nullptr) message.backend = backend->backend;
  auto read = parse_numbers(text, start.after, std::move(message), end);
  // Without a backend's name only a stated request makes it PyTorch's.
  if (backend == nullptr && !read->requested) return std::nullopt;
  return read;
}

}  // namespace ullage::ingest
