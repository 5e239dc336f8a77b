// SPDX-License-Identifier: Apache-2.0
// Reads the data-only part of Python's pickle format, protocols 2 to 5. Nothing is ever executed or imported: opcodes
// that would (GLOBAL, REDUCE, BUILD ...) are errors. Source of the format: CPython's Lib/pickletools.py.
//
// The result is an arena of 8-byte values. What the pickle shares through its memo is shared here too, and has the same
// identity(); texts are views into the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

/// Room for values that never moves: chunks that double in size.
class Arena {
 public:
  /// Room for `count` values, not initialised.
  Value* take(std::size_t count) {
    if (count > left_) grow(count);
    Value* room = next_;
    next_ += count;
    left_ -= count;
    return room;
  }
  /// Whether `more` values can follow directly on what was taken last and ends at `end`; takes them if so.
  bool extend(const Value* end, std::size_t more) {
    if (end != next_ || more > left_) return false;
    take(more);
    return true;
  }

 private:
  void grow(std::size_t count);
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  Value* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t chunk_values_ = 4096;
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
    Value* items = nullptr;
    std::uint64_t count = 0;
    std::uint32_t capacity_log2 = 0;  ///< 0: exactly `count` slots
    bool attached = false;            ///< part of another container; must not change any more
  };
  [[nodiscard]] std::span<const Value> slice(Value value) const;

  std::span<const std::byte> input_;
  Arena arena_;
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
