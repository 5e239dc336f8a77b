// SPDX-License-Identifier: Apache-2.0
// Internal to the pickle reader: the stack machine.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "ingest/snapshot/pickle.hpp"

namespace ullage::pickle {

/// One pass over the opcodes with an explicit stack; no recursion.
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
  bool step_marked(unsigned char op);
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
  bool push_real();
  template <class Length>
  bool push_text(Kind kind);
  template <class T>
  bool integer();
  template <class Length>
  bool long_integer();
  bool constant(Kind kind, std::uint64_t payload);
  bool push_new(Kind kind) {
    push(Value(kind, document_.containers_.size()));
    document_.containers_.emplace_back();
    return true;
  }
  bool push_tuple(std::size_t count);

  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  bool has(std::size_t count) {
    if (stack_.size() - floor() >= count) return true;
    error("an opcode needs more values than there are");
    return false;
  }
  bool pop_mark(std::size_t& first);
  void memoize(std::size_t index);
  void recall(std::size_t index);
  template <class T>
  bool memo_number(void (Machine::*then)(std::size_t));
  bool extend(Value target, std::span<const Value> values);
  bool attach(Value target, Value value);
  void add_slice(Kind kind, std::size_t first);
  bool push_mark();
  void collect(Kind kind, std::size_t first);
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

}  // namespace ullage::pickle
