// SPDX-License-Identifier: Apache-2.0
// PickleWriter: writes data as pickle protocol 4 with the opcodes that PyTorch's web viewer reads (source:
// torch/utils/viz/MemoryViz.js, `unpickle`). Format: CPython's Lib/pickletools.py.
#pragma once

#include "report/sink.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ullage::report {

/// The calls must nest. An object that is written once and referred to later has a Shared of its own.
class PickleWriter {
 public:
  /// The number of a written object in the pickle's memo.
  struct Shared {
    static constexpr std::uint32_t unwritten = 0xffffffffU;
    std::uint32_t number = unwritten;
  };
  /// A text that appears again and again: a key, a name.
  struct Word {
    std::string_view text;
    Shared shared = {};
  };

  explicit PickleWriter(Sink& sink);  ///< begins the pickle
  void finish();                      ///< ends it

  void none();
  void boolean(bool value);
  void integer(std::int64_t value);
  void integer(std::uint64_t value);
  void text(std::string_view text);  ///< UTF-8
  void word(Word& word);

  /// Refers to an object that was written before; false when it was not. Then it is to be written, and `remember` to be
  /// called right behind it (behind a list: right behind its end).
  bool recall(const Shared& shared);
  void remember(Shared& shared);

  void begin_dict();  ///< then keys and values in turn, at least one pair
  void end_dict();
  void begin_list();
  void next_item();  ///< before each item
  void end_list();

 private:
  template <class T>
  void number(T value);
  void long_integer(std::uint64_t bits, bool negative);

  Sink& sink_;
  std::uint32_t remembered_ = 0;
  std::vector<std::uint32_t> lists_;  ///< items in the open batch of each open list
};

}  // namespace ullage::report
