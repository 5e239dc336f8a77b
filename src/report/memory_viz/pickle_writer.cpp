// SPDX-License-Identifier: Apache-2.0
#include "report/memory_viz/pickle_writer.hpp"

#include <cstring>

namespace ullage::report {
namespace {

constexpr char proto = '\x80', stop = '.', mark = '(', empty_dict = '}', set_items = 'u', empty_list = ']',
               appends = 'e', new_true = '\x88', new_false = '\x89', none_op = 'N', int1 = 'K', int2 = 'M', int4 = 'J',
               long1 = '\x8a', short_unicode = '\x8c', unicode = 'X', memoize = '\x94', get1 = 'h', get4 = 'j';

// As CPython does it; the viewer passes a batch as arguments of one call, of which there may not be too many.
constexpr std::uint32_t batch = 1000;

}  // namespace

template <class T>
void PickleWriter::number(T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));  // little-endian hosts only, as all of the project
  sink_.put(std::string_view(bytes, sizeof(T)));
}

PickleWriter::PickleWriter(Sink& sink) : sink_(sink) {
  sink_.put(proto);
  sink_.put('\x04');
}

void PickleWriter::finish() {
  sink_.put(stop);
}

void PickleWriter::none() {
  sink_.put(none_op);
}

void PickleWriter::boolean(bool value) {
  sink_.put(value ? new_true : new_false);
}

void PickleWriter::integer(std::int64_t value) {
  if (value >= 0) return integer(static_cast<std::uint64_t>(value));
  if (value < INT32_MIN) return long_integer(static_cast<std::uint64_t>(value), true);
  sink_.put(int4);
  number(static_cast<std::int32_t>(value));
}

void PickleWriter::integer(std::uint64_t value) {
  if (value <= UINT8_MAX) {
    sink_.put(int1);
    number(static_cast<std::uint8_t>(value));
  } else if (value <= UINT16_MAX) {
    sink_.put(int2);
    number(static_cast<std::uint16_t>(value));
  } else if (value <= INT32_MAX) {
    sink_.put(int4);
    number(static_cast<std::uint32_t>(value));
  } else {
    long_integer(value, false);
  }
}

// Two's complement in as few bytes as hold the sign.
void PickleWriter::long_integer(std::uint64_t bits, bool negative) {
  char bytes[9];
  std::memcpy(bytes, &bits, sizeof bits);
  bytes[8] = negative ? '\xff' : '\0';
  const auto high = [&](std::size_t i) { return (static_cast<unsigned char>(bytes[i]) & 0x80U) != 0; };
  std::size_t length = 9;
  while (length > 1 && bytes[length - 1] == bytes[8] && high(length - 2) == negative) --length;
  sink_.put(long1);
  sink_.put(static_cast<char>(length));
  sink_.put(std::string_view(bytes, length));
}

void PickleWriter::text(std::string_view text) {
  text = text.substr(0, UINT32_MAX);
  if (text.size() <= UINT8_MAX) {
    sink_.put(short_unicode);
    number(static_cast<std::uint8_t>(text.size()));
  } else {
    sink_.put(unicode);
    number(static_cast<std::uint32_t>(text.size()));
  }
  sink_.put(text);
}

void PickleWriter::word(Word& word) {
  if (recall(word.shared)) return;
  text(word.text);
  remember(word.shared);
}

bool PickleWriter::recall(const Shared& shared) {
  if (shared.number == Shared::unwritten) return false;
  if (shared.number <= UINT8_MAX) {
    sink_.put(get1);
    number(static_cast<std::uint8_t>(shared.number));
  } else {
    sink_.put(get4);
    number(shared.number);
  }
  return true;
}

void PickleWriter::remember(Shared& shared) {
  sink_.put(memoize);
  shared.number = remembered_++;
}

void PickleWriter::begin_dict() {
  sink_.put(empty_dict);
  sink_.put(mark);
}

void PickleWriter::end_dict() {
  sink_.put(set_items);
}

void PickleWriter::begin_list() {
  sink_.put(empty_list);
  lists_.push_back(0);
}

void PickleWriter::next_item() {
  std::uint32_t& items = lists_.back();
  if (items == batch) {
    sink_.put(appends);
    items = 0;
  }
  if (items++ == 0) sink_.put(mark);
}

void PickleWriter::end_list() {
  if (lists_.back() > 0) sink_.put(appends);
  lists_.pop_back();
}

}  // namespace ullage::report
