// SPDX-License-Identifier: Apache-2.0
// The opcodes of lists, tuples and dicts, and what can be kept of a cut file.
#include <algorithm>
#include <bit>
#include <string_view>

#include "ingest/snapshot/pickle_machine.hpp"

namespace ullage::pickle {

namespace {
constexpr std::size_t max_mark_depth = 256;
}

// --- containers ---

bool Machine::pop_mark(std::size_t& first) {
  if (marks_.empty()) {
    error("an opcode needs a mark and there is none");
    return false;
  }
  first = marks_.back();
  marks_.pop_back();
  return true;
}

// Marks a value as part of `target`. Together with `extend`, which refuses to change what is already part of something,
// this makes it impossible that a value contains itself.
bool Machine::attach(Value target, Value value) {
  if (!value.is_container()) return true;
  if (value == target) {
    error("a value contains itself");
    return false;
  }
  document_.containers_[value.identity()].attached = true;
  return true;
}

bool Machine::extend(Value target, std::span<const Value> values) {
  Container& container = document_.containers_[target.identity()];
  if (container.attached) {
    error("a value changes after it became part of another, as only values that contain themselves do");
    return false;
  }
  for (const Value value : values) {
    if (!attach(target, value)) return false;
  }
  Arena& arena = document_.arena_;
  const std::uint64_t wanted = container.count + values.size();
  const std::uint64_t room =
      container.capacity_log2 == 0 ? container.count : std::uint64_t{1} << container.capacity_log2;
  if (container.count == 0) {
    container.items = arena.take(values.size());
  } else if (wanted > room &&
             !(room == container.count && arena.extend(container.items + container.count, values.size()))) {
    container.capacity_log2 = static_cast<std::uint32_t>(std::bit_width(wanted));
    Value* moved = arena.take(std::size_t{1} << container.capacity_log2);
    std::copy_n(container.items, container.count, moved);
    container.items = moved;
  } else if (wanted > room) {
    container.capacity_log2 = 0;
  }
  std::ranges::copy(values, container.items + container.count);
  container.count = wanted;
  return true;
}

bool Machine::check_keys(std::span<const Value> pairs) {
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i].kind() == Kind::list || pairs[i].kind() == Kind::dict) {
      error("a list or dict is used as a key");
      return false;
    }
  }
  return true;
}

bool Machine::push_tuple(std::size_t count) {
  if (!has(count)) return true;
  const Value tuple(Kind::tuple, document_.containers_.size());
  document_.containers_.emplace_back();
  if (!extend(tuple, std::span(stack_).last(count))) return true;
  stack_.resize(stack_.size() - count);
  push(tuple);
  return true;
}

// APPENDS and SETITEMS: the values above the mark go into the container below it.
void Machine::add_slice(Kind kind, std::size_t first) {
  if (first == floor()) return error("an opcode needs more values than there are");
  const Value target = stack_[first - 1];
  const auto values = std::span(stack_).subspan(first);
  if (target.kind() != kind) return error("values are added to something that is not a list or dict");
  if (kind == Kind::dict && values.size() % 2 != 0) return error("a dict has a key without a value");
  if (kind == Kind::dict && !check_keys(values)) return;
  if (extend(target, values)) stack_.resize(first);
}

void Machine::append_one() {
  if (!has(2)) return;
  const Value target = stack_[stack_.size() - 2];
  if (target.kind() != Kind::list) return error("values are added to something that is not a list or dict");
  if (extend(target, std::span(stack_).last(1))) stack_.pop_back();
}

void Machine::set_one() {
  if (!has(3)) return;
  const Value target = stack_[stack_.size() - 3];
  if (target.kind() != Kind::dict) return error("values are added to something that is not a list or dict");
  const auto pair = std::span(stack_).last(2);
  if (check_keys(pair) && extend(target, pair)) stack_.resize(stack_.size() - 2);
}

bool Machine::push_mark() {
  if (marks_.size() >= max_mark_depth) error("values are nested too deeply", "at most 256 levels");
  marks_.push_back(stack_.size());
  return true;
}

// LIST and DICT: a new container from what stands above the mark.
void Machine::collect(Kind kind, std::size_t first) {
  const Value value(kind, document_.containers_.size());
  document_.containers_.emplace_back();
  stack_.insert(stack_.begin() + static_cast<std::ptrdiff_t>(first), value);
  add_slice(kind, first + 1);
}

bool Machine::step_container(unsigned char op) {
  switch (op) {
    case '}':
      return push_new(Kind::dict);
    case ']':
      return push_new(Kind::list);
    case ')':
      return push_new(Kind::tuple);
    case '(':
      return push_mark();
    case 'a':
      append_one();
      return true;
    case 's':
      set_one();
      return true;
    case 0x85:
      return push_tuple(1);
    case 0x86:
      return push_tuple(2);
    case 0x87:
      return push_tuple(3);
    case '0':
      if (has(1)) stack_.pop_back();
      return true;
    case '2':
      if (has(1)) push(stack_.back());
      return true;
    default:
      return step_marked(op);
  }
}

// Opcodes that take everything above the mark.
bool Machine::step_marked(unsigned char op) {
  std::size_t first = 0;
  if (std::string_view("eutld1").find(static_cast<char>(op)) == std::string_view::npos) return false;
  if (!pop_mark(first)) return true;
  switch (op) {
    case 'e':
      add_slice(Kind::list, first);
      break;
    case 'u':
      add_slice(Kind::dict, first);
      break;
    case 't':
      push_tuple(stack_.size() - first);
      break;
    case 'l':
      collect(Kind::list, first);
      break;
    case 'd':
      collect(Kind::dict, first);
      break;
    default:
      stack_.resize(first);
      break;
  }
  return true;
}

// --- cut files ---

// The pairs of an unfinished dict: keys with their values. A list with something behind it that is no key was waiting
// for an APPEND.
std::vector<Value> Machine::complete_pairs(std::size_t first) {
  std::vector<Value> pairs;
  std::size_t i = first;
  while (i + 1 < stack_.size() && stack_[i].kind() == Kind::text) {
    const Value value = stack_[i + 1];
    pairs.push_back(stack_[i]);
    pairs.push_back(value);
    i += 2;
    if (i < stack_.size() && stack_[i].kind() != Kind::text && value.kind() == Kind::list) {
      extend(value, std::span(stack_).subspan(i, 1));
      ++i;
    }
  }
  return pairs;
}

void Machine::fold(Value target, std::size_t first) {
  if (target.kind() == Kind::list) {
    extend(target, std::span(stack_).subspan(first));
  } else if (target.kind() == Kind::dict) {
    extend(target, complete_pairs(first));
  }
  stack_.resize(first);
}

void Machine::keep_what_is_there() {
  state_ = State::going;
  while (!marks_.empty() && state_ == State::going) {
    const std::size_t first = marks_.back();
    marks_.pop_back();
    if (first == 0) return;
    fold(stack_[first - 1], first);
  }
  if (stack_.empty() || state_ != State::going) return;
  fold(stack_[0], 1);
  if (state_ == State::going) document_.root_ = stack_[0];
}

}  // namespace ullage::pickle
