// SPDX-License-Identifier: Apache-2.0
// The pickle machine: one pass over the opcodes, an explicit stack, no recursion.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "ingest/snapshot/pickle.hpp"

namespace ullage::pickle {

namespace {

constexpr std::size_t max_mark_depth = 256;
constexpr std::size_t max_memo_gap = 4096;  // a memo number may run this far ahead of the numbers in use

struct OpcodeName {
  unsigned char code;
  const char* name;
};

// Opcodes that are known and refused, for the message.
constexpr OpcodeName refused[] = {
    {'c', "GLOBAL"},      {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},        {'b', "BUILD"},
    {'i', "INST"},        {'o', "OBJ"},           {0x81, "NEWOBJ"},       {0x92, "NEWOBJ_EX"},
    {'P', "PERSID"},      {'Q', "BINPERSID"},     {0x82, "EXT1"},         {0x83, "EXT2"},
    {0x84, "EXT4"},       {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"}, {0x96, "BYTEARRAY8"},
    {0x8f, "EMPTY_SET"},  {0x90, "ADDITEMS"},     {0x91, "FROZENSET"},    {'I', "INT"},
    {'L', "LONG"},        {'F', "FLOAT"},         {'S', "STRING"},        {'V', "UNICODE"},
    {'p', "PUT"},         {'g', "GET"},           {'T', "BINSTRING"},     {'U', "SHORT_BINSTRING"}};

std::string name_of(unsigned char code) {
  for (const OpcodeName& op : refused) {
    if (op.code == code) return op.name;
  }
  constexpr std::array digits = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  return std::string("0x") + digits[code >> 4] + digits[code & 15];
}

}  // namespace

class Machine {
 public:
  explicit Machine(std::span<const std::byte> input)
      : begin_(reinterpret_cast<const unsigned char*>(input.data())), at_(begin_), end_(begin_ + input.size()) {
    document_.input_ = input;
  }

  Result<Document> run();

 private:
  enum class State { going, stopped, cut, failed };
  using Container = Document::Container;

  void step();
  bool step_scalar(unsigned char op);
  bool step_memo(unsigned char op);
  bool step_container(unsigned char op);
  void refuse(unsigned char op);

  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void error(std::string what, std::string expected = {});
  void cut(std::uint64_t wanted);
  bool need(std::uint64_t bytes) {
    if (bytes <= left()) return true;
    cut(bytes);
    return false;
  }
  template <class T>
  bool number(T& out) {
    if (!need(sizeof(T))) return false;
    std::memcpy(&out, at_, sizeof(T));  // little-endian hosts only, as all of the project
    at_ += sizeof(T);
    return true;
  }

  void push(Value value) { stack_.push_back(value); }
  void push_integer(std::int64_t number);
  void push_wide(std::uint64_t bits, bool is_unsigned);
  void push_long(std::uint64_t length);
  void push_real();
  template <class Length>
  void push_text(Kind kind);
  void push_new(Kind kind) {
    push(Value(kind, document_.containers_.size()));
    document_.containers_.emplace_back();
  }
  void push_tuple(std::size_t count);

  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool has(std::size_t count) {
    if (stack_.size() - floor() >= count) return true;
    error("an opcode needs more values than there are");
    return false;
  }
  bool pop_mark(std::size_t& first);
  void memoize(std::size_t index);
  void recall(std::size_t index);
  bool extend(Value target, std::span<const Value> values);
  bool attach(Value target, Value value);
  void add_slice(Kind kind, std::size_t first);
  void append_one();
  void set_one();
  bool check_keys(std::span<const Value> pairs);
  void keep_what_is_there();
  void fold(Value target, std::size_t first);
  std::vector<Value> complete_pairs(std::size_t first);

  const unsigned char* begin_;
  const unsigned char* at_;
  const unsigned char* end_;
  const unsigned char* op_ = nullptr;
  State state_ = State::going;
  Document document_;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::vector<Value> memo_;
  std::size_t memo_used_ = 0;
  Error error_;
};

void Machine::error(std::string what, std::string expected) {
  if (state_ != State::going) return;
  state_ = State::failed;
  error_ = {ErrorKind::bad_input, std::move(what), "byte " + std::to_string(op_ == nullptr ? 0 : op_ - begin_),
            std::move(expected), "write the snapshot again with torch.cuda.memory._dump_snapshot"};
}

void Machine::cut(std::uint64_t wanted) {
  if (state_ != State::going) return;
  state_ = State::cut;
  error_ = {ErrorKind::bad_input, "the snapshot ends too early", "byte " + std::to_string(at_ - begin_),
            std::to_string(wanted) + " more bytes, " + std::to_string(left()) + " are left",
            "the file may have been cut short while it was written or copied"};
}

void Machine::refuse(unsigned char op) {
  error("the opcode " + name_of(op) + " is not allowed: snapshots hold data only",
        "numbers, texts, lists, tuples and dicts; a pickle with other opcodes could run code");
}

// --- scalars ---

void Machine::push_integer(std::int64_t number) {
  constexpr std::int64_t limit = std::int64_t{1} << 57;
  if (number >= -limit && number < limit) {
    push(Value(Kind::integer, static_cast<std::uint64_t>(number) << 1));
  } else {
    push_wide(static_cast<std::uint64_t>(number), false);
  }
}

void Machine::push_wide(std::uint64_t bits, bool is_unsigned) {
  push(Value(Kind::integer, std::uint64_t{document_.wide_.size()} << 2 | (is_unsigned ? 3U : 1U)));
  document_.wide_.push_back(bits);
}

void Machine::push_long(std::uint64_t length) {
  if (!need(length)) return;
  const unsigned char* bytes = at_;
  at_ += length;
  const bool negative = length > 0 && (bytes[length - 1] & 0x80) != 0;
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  std::memcpy(&value, bytes, std::min<std::uint64_t>(length, 8));
  if (length <= 8) {
    push_integer(static_cast<std::int64_t>(value));
  } else if (length == 9 && bytes[8] == 0) {
    push_wide(value, true);
  } else {
    push(Value(Kind::opaque, 0));
  }
}

void Machine::push_real() {
  std::uint64_t bits = 0;
  if (!number(bits)) return;
  push(Value(Kind::real, document_.wide_.size()));
  document_.wide_.push_back(__builtin_bswap64(bits));
}

template <class Length>
void Machine::push_text(Kind kind) {
  Length length = 0;
  if (!number(length) || !need(length)) return;
  push(Value(kind, document_.texts_.size()));
  document_.texts_.push_back({static_cast<std::uint64_t>(at_ - begin_), length});
  at_ += length;
}

bool Machine::step_scalar(unsigned char op) {
  switch (op) {
    case 'K': { std::uint8_t n = 0; if (number(n)) push_integer(n); return true; }
    case 'M': { std::uint16_t n = 0; if (number(n)) push_integer(n); return true; }
    case 'J': { std::int32_t n = 0; if (number(n)) push_integer(n); return true; }
    case 0x8a: { std::uint8_t n = 0; if (number(n)) push_long(n); return true; }
    case 0x8b: { std::uint32_t n = 0; if (number(n)) push_long(n); return true; }
    case 'G': push_real(); return true;
    case 0x8c: push_text<std::uint8_t>(Kind::text); return true;
    case 'X': push_text<std::uint32_t>(Kind::text); return true;
    case 0x8d: push_text<std::uint64_t>(Kind::text); return true;
    case 'C': push_text<std::uint8_t>(Kind::bytes); return true;
    case 'B': push_text<std::uint32_t>(Kind::bytes); return true;
    case 0x8e: push_text<std::uint64_t>(Kind::bytes); return true;
    case 'N': push(Value(Kind::none, 0)); return true;
    case 0x88: push(Value(Kind::boolean, 1)); return true;
    case 0x89: push(Value(Kind::boolean, 0)); return true;
    default: return false;
  }
}

// --- memo ---

void Machine::memoize(std::size_t index) {
  if (!has(1)) return;
  if (index > memo_used_ + max_memo_gap) return error("a memo number is far beyond the values in the memo");
  if (index >= memo_.size()) memo_.resize(std::max(index + 1, memo_.size() * 2));
  memo_used_ += memo_[index] ? 0 : 1;
  memo_[index] = stack_.back();
}

void Machine::recall(std::size_t index) {
  if (index >= memo_.size() || !memo_[index]) return error("a memo number names no value");
  push(memo_[index]);
}

bool Machine::step_memo(unsigned char op) {
  switch (op) {
    case 'h': { std::uint8_t n = 0; if (number(n)) recall(n); return true; }
    case 'j': { std::uint32_t n = 0; if (number(n)) recall(n); return true; }
    case 0x94: memoize(memo_used_); return true;
    case 'q': { std::uint8_t n = 0; if (number(n)) memoize(n); return true; }
    case 'r': { std::uint32_t n = 0; if (number(n)) memoize(n); return true; }
    default: return false;
  }
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
  std::vector<Value>& items = document_.items_;
  const std::uint64_t wanted = container.count + values.size();
  const std::uint64_t room = container.capacity_log2 == 0 ? container.count : std::uint64_t{1} << container.capacity_log2;
  if (container.count > 0 && wanted > room && container.first + container.count != items.size()) {
    container.capacity_log2 = static_cast<std::uint32_t>(std::bit_width(wanted));
    const std::uint64_t first = items.size();
    items.resize(first + (std::uint64_t{1} << container.capacity_log2));
    std::copy_n(items.begin() + static_cast<std::ptrdiff_t>(container.first), container.count,
                items.begin() + static_cast<std::ptrdiff_t>(first));
    container.first = first;
  } else if (wanted > room) {
    if (container.count == 0) container.first = items.size();
    container.capacity_log2 = 0;
    items.resize(container.first + wanted);
  }
  std::ranges::copy(values, items.begin() + static_cast<std::ptrdiff_t>(container.first + container.count));
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

void Machine::push_tuple(std::size_t count) {
  if (!has(count)) return;
  const Value tuple(Kind::tuple, document_.containers_.size());
  document_.containers_.emplace_back();
  if (!extend(tuple, std::span(stack_).last(count))) return;
  stack_.resize(stack_.size() - count);
  push(tuple);
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

bool Machine::step_container(unsigned char op) {
  std::size_t first = 0;
  switch (op) {
    case '}': push_new(Kind::dict); return true;
    case ']': push_new(Kind::list); return true;
    case ')': push_new(Kind::tuple); return true;
    case '(':
      if (marks_.size() >= max_mark_depth) error("values are nested too deeply", "at most 256 levels");
      marks_.push_back(stack_.size());
      return true;
    case 'a': append_one(); return true;
    case 's': set_one(); return true;
    case 'e': if (pop_mark(first)) add_slice(Kind::list, first); return true;
    case 'u': if (pop_mark(first)) add_slice(Kind::dict, first); return true;
    case 0x85: push_tuple(1); return true;
    case 0x86: push_tuple(2); return true;
    case 0x87: push_tuple(3); return true;
    case 't': if (pop_mark(first)) push_tuple(stack_.size() - first); return true;
    case 'l':
    case 'd':
      if (!pop_mark(first)) return true;
      stack_.insert(stack_.begin() + static_cast<std::ptrdiff_t>(first),
                    Value(op == 'l' ? Kind::list : Kind::dict, document_.containers_.size()));
      document_.containers_.emplace_back();
      add_slice(op == 'l' ? Kind::list : Kind::dict, first + 1);
      return true;
    case '0': if (has(1)) stack_.pop_back(); return true;
    case '1': if (pop_mark(first)) stack_.resize(first); return true;
    case '2': if (has(1)) push(stack_.back()); return true;
    default: return false;
  }
}

// --- the loop ---

void Machine::step() {
  op_ = at_;
  if (!need(1)) return;
  const unsigned char op = *at_++;
  if (step_memo(op) || step_container(op) || step_scalar(op)) return;
  if (op == 0x95) {
    std::uint64_t length = 0;
    if (number(length) && length > left() && !document_.damage_) {
      cut(length);
      document_.damage_ = error_;
      state_ = State::going;
    }
  } else if (op == 0x80) {
    std::uint8_t version = 0;
    if (number(version) && (version < 2 || version > 5)) error("an unknown pickle protocol", "protocol 2 to 5");
  } else if (op == '.') {
    if (has(1)) state_ = State::stopped;
  } else {
    refuse(op);
  }
}

Result<Document> Machine::run() {
  if (left() < 2 || at_[0] != 0x80) {
    return fail(ErrorKind::bad_input, left() == 0 ? "the file is empty" : "this is not a pickle", "byte 0",
                "a pickle of protocol 2 to 5, as torch.cuda.memory._dump_snapshot writes it");
  }
  memo_.resize(256);
  while (state_ == State::going) step();
  if (state_ == State::failed) return tl::unexpected<Error>(error_);
  if (state_ == State::cut) {
    document_.damage_ = error_;
    keep_what_is_there();
    if (!document_.root_) return tl::unexpected<Error>(error_);
  } else {
    document_.root_ = stack_.back();
  }
  return std::move(document_);
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

Result<Document> read(std::span<const std::byte> input) { return Machine(input).run(); }

}  // namespace ullage::pickle
