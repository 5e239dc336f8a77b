// SPDX-License-Identifier: Apache-2.0
#include "ingest/kineto/kineto_events.hpp"

#include <charconv>
#include <limits>
#include <utility>

namespace ullage::ingest {

namespace {

using timeline::CallKind;

constexpr std::size_t nested_bytes_at_most = 1024;
constexpr int depth_at_most = 64;  // the parser recurses

std::uint64_t to_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  if (text.starts_with("0x")) {
    std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  } else {
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::int64_t to_signed(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Microseconds with decimals as nanoseconds, exactly; an exponent is left to floating point.
std::int64_t to_nanoseconds(std::string_view text) {
  if (text.find_first_of("eE") != text.npos) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value > -9e15 && value < 9e15 ? static_cast<std::int64_t>(value * 1000) : 0;
  }
  const auto point = text.find('.');
  const std::int64_t whole = to_signed(text.substr(0, point));
  if (whole > 9'000'000'000'000'000 || whole < -9'000'000'000'000'000) return 0;
  std::int64_t fraction = 0;
  if (point != text.npos) {
    for (std::size_t i = 1; i <= 3; ++i) {
      const std::size_t at = point + i;
      fraction = fraction * 10 + (at < text.size() && text[at] >= '0' && text[at] <= '9' ? text[at] - '0' : 0);
    }
  }
  return whole * 1000 + (text.starts_with('-') ? -fraction : fraction);
}

}  // namespace

KinetoEvents::Field KinetoEvents::event_field(std::string_view key) {
  switch (key.size()) {
    case 2:
      return key == "ph" ? Field::phase : key == "ts" ? Field::time : Field::unknown;
    case 3:
      return key == "cat"   ? Field::category
             : key == "tid" ? Field::thread
             : key == "dur" ? Field::duration
                            : Field::unknown;
    case 4:
      return key == "name" ? Field::name : key == "args" ? Field::arguments : Field::unknown;
    default:
      return Field::unknown;
  }
}

KinetoEvents::Field KinetoEvents::argument_field(std::string_view key) {
  constexpr std::pair<std::string_view, Field> fields[] = {
      {"External id", Field::external},
      {"external id", Field::external},
      {"Sequence number", Field::sequence},
      {"Fwd thread id", Field::forward_thread},
      {"Input Dims", Field::shapes},
      {"Input dims", Field::shapes},
      {"Call stack", Field::stack},
      {"Device Type", Field::device_type},
      {"Device Id", Field::device},
      {"Bytes", Field::bytes},
      {"Addr", Field::address},
      {"Total Allocated", Field::allocated},
      {"Total Reserved", Field::reserved},
  };
  for (const auto& [name, field] : fields) {
    if (key == name) return field;
  }
  return Field::unknown;
}

KinetoEvents::Field KinetoEvents::document_field(std::string_view key) {
  if (key == "traceEvents") return Field::trace_events;
  if (key == "baseTimeNanoseconds") return Field::base_time;
  if (key == "profile_memory") return Field::profile_memory;
  if (key == "deviceProperties") return Field::device_properties;
  if (key == "ullage") return Field::own_note;
  return Field::unknown;
}

bool KinetoEvents::Key(const char* text, unsigned size, bool) {
  const std::string_view key(text, size);
  if (nested_ != nullptr) {
    write_nested(key, true);
  } else if (events_depth_ >= 0 && depth_ == events_depth_ + 1) {
    field_ = event_field(key);
  } else if (events_depth_ >= 0 && depth_ == events_depth_ + 2) {
    field_ = argument_field(key);
  } else if (depth_ == 1) {
    field_ = document_field(key);
  } else if (events_depth_ < 0) {
    device_key_.assign(key);
  }
  return true;
}

bool KinetoEvents::StartObject() {
  if (++depth_ > depth_at_most) return false;
  if (events_depth_ >= 0 && depth_ == events_depth_ + 1) {
    event_.name.clear(), event_.category.clear(), event_.shapes.clear(), event_.stack.clear();
    Event fresh;
    std::swap(fresh.name, event_.name), std::swap(fresh.category, event_.category);
    std::swap(fresh.shapes, event_.shapes), std::swap(fresh.stack, event_.stack);
    event_ = std::move(fresh);
  }
  if (nested_ != nullptr) write_nested("{", false);
  return true;
}

bool KinetoEvents::EndObject(unsigned) {
  if (events_depth_ >= 0 && depth_ == events_depth_ + 1) finish_event();
  --depth_;
  return true;
}

bool KinetoEvents::StartArray() {
  if (++depth_ > depth_at_most) return false;
  if (events_depth_ < 0 && (depth_ == 1 || (depth_ == 2 && field_ == Field::trace_events))) {
    events_depth_ = depth_;
    saw_events_ = true;
  } else if (nested_ != nullptr) {
    write_nested("[", false);
  } else if (events_depth_ >= 0 && depth_ == events_depth_ + 3 && field_ == Field::shapes && options_.shapes) {
    nested_ = &event_.shapes;
    *nested_ = "[";
  }
  return true;
}

bool KinetoEvents::EndArray(unsigned) {
  if (nested_ != nullptr) {
    if (nested_->ends_with(',')) nested_->pop_back();
    *nested_ += "],";
    if (depth_ == events_depth_ + 3) {
      nested_->pop_back();
      nested_ = nullptr;
    }
  }
  if (depth_ == events_depth_) events_depth_ = -1;
  --depth_;
  return true;
}

void KinetoEvents::write_nested(std::string_view text, bool) {
  if (nested_->size() < nested_bytes_at_most) nested_->append(text);
  if (text != "[" && text != "{") nested_->push_back(',');
}

bool KinetoEvents::scalar(std::string_view text, bool quoted) {
  if (nested_ != nullptr) {
    write_nested(text, quoted);
  } else if (events_depth_ >= 0 && depth_ == events_depth_ + 1) {
    take_event_value(text);
  } else if (events_depth_ >= 0 && depth_ == events_depth_ + 2) {
    take_argument(text);
  } else if (depth_ == 1) {
    take_document_value(text);
  } else if (events_depth_ < 0 && field_ == Field::device_properties) {
    take_device(text);
  }
  return true;
}

void KinetoEvents::take_event_value(std::string_view text) {
  switch (field_) {
    case Field::name:
      event_.name.assign(text);
      break;
    case Field::category:
      event_.category.assign(text);
      break;
    case Field::phase:
      event_.phase = text.empty() ? '\0' : text[0];
      break;
    case Field::thread:
      event_.thread = to_unsigned(text);
      break;
    case Field::time:
      event_.time = to_nanoseconds(text), event_.has_time = true;
      break;
    case Field::duration:
      event_.duration = to_nanoseconds(text);
      break;
    default:
      break;
  }
}

void KinetoEvents::take_argument(std::string_view text) {
  switch (field_) {
    case Field::external:
      event_.external = to_unsigned(text);
      break;
    case Field::sequence:
      event_.sequence = to_signed(text);
      break;
    case Field::forward_thread:
      event_.forward_thread = to_signed(text);
      break;
    case Field::shapes:
      if (options_.shapes) event_.shapes.assign(text.substr(0, nested_bytes_at_most));
      break;
    case Field::stack:
      if (options_.stacks) event_.stack.assign(text);
      break;
    case Field::device_type:
      event_.device_type = to_signed(text);
      break;
    case Field::device:
      event_.device = to_signed(text);
      break;
    case Field::bytes:
      event_.bytes = to_signed(text), event_.has_bytes = true;
      break;
    case Field::address:
      event_.address = to_unsigned(text), event_.has_address = true;
      break;
    case Field::allocated:
      event_.allocated = to_unsigned(text), event_.has_totals = true;
      break;
    case Field::reserved:
      event_.reserved = to_unsigned(text);
      break;
    default:
      break;
  }
}

void KinetoEvents::take_document_value(std::string_view text) {
  if (field_ == Field::base_time) out_.trace.base_ns = to_signed(text);
  if (field_ == Field::profile_memory) out_.says_profile_memory = text == "1" || text == "true";
  if (field_ == Field::own_note) out_.note.assign(text);
}

void KinetoEvents::take_device(std::string_view text) {
  if (device_key_ == "name" && out_.trace.device_name.empty()) out_.trace.device_name.assign(text);
  if (device_key_ == "totalGlobalMem" && out_.trace.device_bytes == 0) out_.trace.device_bytes = to_unsigned(text);
}

void KinetoEvents::finish_event() {
  ++out_.events;
  const std::string& category = event_.category;
  if (event_.phase == 'X') {
    if (category == "cpu_op" || category == "Operator") return finish_call(CallKind::operation);
    if (category == "user_annotation") return finish_call(CallKind::annotation);
    if (category == "kernel" || category == "Kernel") return finish_call(CallKind::kernel);
    if (category == "python_function")
      return finish_call(event_.name.starts_with("nn.Module: ") ? CallKind::module : CallKind::python);
    if (category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" || category == "Memset")
      return finish_call(CallKind::copy);
    if (category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime")
      return finish_call(CallKind::runtime);
  } else if (event_.phase == 'i') {
    if (event_.name == "[memory]") return finish_memory();
    if (event_.name == "[OutOfMemory]")
      out_.trace.ooms.push_back(
          {event_.time, static_cast<std::uint64_t>(event_.bytes), static_cast<int>(event_.device)});
  }
}

void KinetoEvents::finish_call(CallKind kind) {
  if (!event_.has_time || event_.duration < 0) {
    ++out_.bad_events;
    return;
  }
  constexpr std::string_view module = "ullage.module: ";
  auto& trace = out_.trace;
  std::string_view name = event_.name;
  if (kind == CallKind::operation && name.starts_with(module))
    kind = CallKind::module, name.remove_prefix(module.size());
  // Ranges of record_function, which the first layout does not tell from operators: `Optimizer.step#SGD.step`.
  if (kind == CallKind::operation && (name.starts_with("Optimizer.") || name.starts_with("ProfilerStep#") ||
                                      name.starts_with("enumerate(DataLoader)#")))
    kind = CallKind::annotation;
  timeline::Call call;
  call.name = trace.strings.intern(name);
  call.begin_ns = event_.time;
  call.end_ns = event_.time + event_.duration;
  call.thread = trace.thread_index(event_.thread);
  call.external = static_cast<std::uint32_t>(event_.external);
  const bool fits = event_.sequence >= 0 && event_.sequence <= std::numeric_limits<std::int32_t>::max();
  if (fits) call.sequence = static_cast<std::int32_t>(event_.sequence);
  call.shapes = trace.strings.intern(event_.shapes);
  call.stack = trace.strings.intern(event_.stack);
  call.kind = kind;
  const bool small = event_.forward_thread > 0 && event_.forward_thread < 256;
  if (small) call.forward_thread = static_cast<std::uint8_t>(event_.forward_thread);
  trace.calls.push_back(call);
}

void KinetoEvents::finish_memory() {
  if (!event_.has_time || !event_.has_bytes) {
    ++out_.bad_events;
    return;
  }
  ++out_.memory_events;
  out_.has_totals |= event_.has_totals;
  out_.has_addresses |= event_.has_address;
  const auto device = event_.device_type == 0 ? std::int16_t{-1} : static_cast<std::int16_t>(event_.device);
  out_.trace.memory.push_back({event_.time, event_.bytes, event_.address, event_.allocated, event_.reserved,
                               out_.trace.thread_index(event_.thread), device});
}

}  // namespace ullage::ingest
