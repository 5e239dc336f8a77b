// SPDX-License-Identifier: Apache-2.0
// Reads the data-only part of Python's pickle format, protocols 2 to 5. Nothing is ever executed or imported: opcodes
// that would (GLOBAL, REDUCE, BUILD ...) are errors. Source of the format: CPython's Lib/pickletools.py.
//
// The result is an arena of 8-byte values. What the pickle shares through its memo is shared here too, and has the same
// identity(); texts are views into the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ullage::pickle {

enum class Kind : std::uint8_t {
  absent,  ///< no value
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  opaque,  ///< a number that does not fit 64 bits
  list,
  tuple,
  dict,
};

/// A reference into a Document; valid only with the Document it came from.
class Value {
 public:
  constexpr Value() = default;
  [[nodiscard]] Kind kind() const { return static_cast<Kind>(bits_ & 15); }
  explicit operator bool() const { return kind() != Kind::absent; }
  [[nodiscard]] bool is_container() const { return kind() >= Kind::list; }
  /// A number that is the same for the same shared object; dense per kind (texts; lists, tuples and dicts together).
  [[nodiscard]] std::size_t identity() const { return static_cast<std::size_t>(bits_ >> 4); }
  friend bool operator==(Value, Value) = default;

 private:
  friend class Document;
  friend class Machine;
  constexpr Value(Kind kind, std::uint64_t payload) : bits_(payload << 4 | static_cast<std::uint64_t>(kind)) {}
  std::uint64_t bits_ = 0;
};

/// A pickle that was read. The input must outlive it.
class Document {
 public:
  [[nodiscard]] Value root() const { return root_; }
  /// Set when the input ended too early: what was complete before is kept.
  [[nodiscard]] const std::optional<Error>& damage() const { return damage_; }

  /// Integer (or boolean) values; nothing for other kinds and out of range.
  [[nodiscard]] std::optional<std::uint64_t> to_unsigned(Value value) const;
  [[nodiscard]] std::optional<std::int64_t> to_signed(Value value) const;
  [[nodiscard]] std::optional<double> to_real(Value value) const;
  [[nodiscard]] std::optional<bool> to_boolean(Value value) const;
  /// A text's bytes; empty for other kinds.
  [[nodiscard]] std::string_view text(Value value) const;
  /// The items of a list or tuple; empty for other kinds.
  [[nodiscard]] std::span<const Value> items(Value value) const;
  /// key, value, key, value ... of a dict; empty for other kinds.
  [[nodiscard]] std::span<const Value> pairs(Value value) const;
  /// The value of a dict at a text key; the last one when the key is given twice; absent when there is none.
  [[nodiscard]] Value get(Value dict, std::string_view key) const;

  [[nodiscard]] std::size_t container_count() const { return containers_.size(); }
  [[nodiscard]] std::size_t text_count() const { return texts_.size(); }

 private:
  friend class Machine;
  struct Text {
    std::uint64_t offset;
    std::uint64_t length;
  };
  struct Container {
    std::uint64_t first = 0;  ///< index into items_
    std::uint64_t count = 0;
    std::uint32_t capacity_log2 = 0;  ///< 0: exactly `count` slots
    bool attached = false;            ///< part of another container; must not change any more
  };
  [[nodiscard]] std::span<const Value> slice(Value value) const;

  std::span<const std::byte> input_;
  std::vector<Value> items_;
  std::vector<Container> containers_;
  std::vector<Text> texts_;
  std::vector<std::uint64_t> wide_;  ///< integers of more than 59 bits, and the bits of reals
  Value root_;
  std::optional<Error> damage_;
};

/// Reads one pickle. Errors (`bad_input`, the byte offset in `where`): not a pickle of protocol 2 to 5, an opcode that
/// is not data, a stack or memo that does not fit, values that contain themselves, marks nested deeper than 256. An
/// input that is only cut short is no error when something could be kept: see Document::damage.
Result<Document> read(std::span<const std::byte> input);

}  // namespace ullage::pickle
