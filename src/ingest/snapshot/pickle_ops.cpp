// SPDX-License-Identifier: Apache-2.0
// The opcodes of scalars and of the memo, and the loop over all opcodes.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "ingest/snapshot/pickle_machine.hpp"

namespace ullage::pickle {

namespace {

constexpr std::size_t max_memo_gap = 4096;  // a memo number may run this far ahead of the numbers in use

struct OpcodeName {
  unsigned char code;
  const char* name;
};

// Opcodes that are known and refused, for the message.
constexpr OpcodeName refused[] = {{'c', "GLOBAL"},
                                  {0x93, "STACK_GLOBAL"},
                                  {'R', "REDUCE"},
                                  {'b', "BUILD"},
                                  {'i', "INST"},
                                  {'o', "OBJ"},
                                  {0x81, "NEWOBJ"},
                                  {0x92, "NEWOBJ_EX"},
                                  {'P', "PERSID"},
                                  {'Q', "BINPERSID"},
                                  {0x82, "EXT1"},
                                  {0x83, "EXT2"},
                                  {0x84, "EXT4"},
                                  {0x97, "NEXT_BUFFER"},
                                  {0x98, "READONLY_BUFFER"},
                                  {0x96, "BYTEARRAY8"},
                                  {0x8f, "EMPTY_SET"},
                                  {0x90, "ADDITEMS"},
                                  {0x91, "FROZENSET"},
                                  {'I', "INT"},
                                  {'L', "LONG"},
                                  {'F', "FLOAT"},
                                  {'S', "STRING"},
                                  {'V', "UNICODE"},
                                  {'p', "PUT"},
                                  {'g', "GET"},
                                  {'T', "BINSTRING"},
                                  {'U', "SHORT_BINSTRING"}};

std::string name_of(unsigned char code) {
  for (const OpcodeName& op : refused) {
    if (op.code == code) return op.name;
  }
  constexpr std::array digits = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
  return std::string("0x") + digits[code >> 4] + digits[code & 15];
}

}  // namespace

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

bool Machine::push_real() {
  std::uint64_t bits = 0;
  if (!number(bits)) return true;
  push(Value(Kind::real, document_.wide_.size()));
  document_.wide_.push_back(__builtin_bswap64(bits));
  return true;
}

template <class Length>
bool Machine::push_text(Kind kind) {
  Length length = 0;
  if (!number(length) || !need(length)) return true;
  push(Value(kind, document_.texts_.size()));
  document_.texts_.push_back({static_cast<std::uint64_t>(at_ - begin_), length});
  at_ += length;
  return true;
}

// Each reader of an operand answers true, "this opcode was known", so that the tables below stay short.
template <class T>
bool Machine::integer() {
  T n = 0;
  if (number(n)) push_integer(n);
  return true;
}

template <class Length>
bool Machine::long_integer() {
  Length length = 0;
  if (number(length)) push_long(length);
  return true;
}

bool Machine::constant(Kind kind, std::uint64_t payload) {
  push(Value(kind, payload));
  return true;
}

bool Machine::step_scalar(unsigned char op) {
  switch (op) {
    case 'K':
      return integer<std::uint8_t>();
    case 'M':
      return integer<std::uint16_t>();
    case 'J':
      return integer<std::int32_t>();
    case 0x8a:
      return long_integer<std::uint8_t>();
    case 0x8b:
      return long_integer<std::uint32_t>();
    case 'G':
      return push_real();
    case 0x8c:
      return push_text<std::uint8_t>(Kind::text);
    case 'X':
      return push_text<std::uint32_t>(Kind::text);
    case 0x8d:
      return push_text<std::uint64_t>(Kind::text);
    case 'C':
      return push_text<std::uint8_t>(Kind::bytes);
    case 'B':
      return push_text<std::uint32_t>(Kind::bytes);
    case 0x8e:
      return push_text<std::uint64_t>(Kind::bytes);
    case 'N':
      return constant(Kind::none, 0);
    case 0x88:
      return constant(Kind::boolean, 1);
    case 0x89:
      return constant(Kind::boolean, 0);
    default:
      return false;
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

template <class T>
bool Machine::memo_number(void (Machine::*then)(std::size_t)) {
  T n = 0;
  if (number(n)) (this->*then)(n);
  return true;
}

bool Machine::step_memo(unsigned char op) {
  switch (op) {
    case 'h':
      return memo_number<std::uint8_t>(&Machine::recall);
    case 'j':
      return memo_number<std::uint32_t>(&Machine::recall);
    case 'q':
      return memo_number<std::uint8_t>(&Machine::memoize);
    case 'r':
      return memo_number<std::uint32_t>(&Machine::memoize);
    case 0x94:
      memoize(memo_used_);
      return true;
    default:
      return false;
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

Result<Document> read(std::span<const std::byte> input) {
  return Machine(input).run();
}

}  // namespace ullage::pickle
