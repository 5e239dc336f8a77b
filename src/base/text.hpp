// SPDX-License-Identifier: Apache-2.0
// Small text tools: comparison without case, suggestions for mistyped names, aligned tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

/// `text` without the white space at both ends.
[[nodiscard]] std::string_view trim(std::string_view text);
/// ASCII lower case.
[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other (optimal string
/// alignment).
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

/// Up to `limit` names that `typed` may have meant, nearest first: those that it begins, then those within a third of
/// its length in edits (at least 2). Case is ignored. Equal distances keep the order of `names`.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view typed, std::span<const std::string_view> names,
                                                     std::size_t limit = 3);

/// `did you mean 'a' or 'b'?`, or nothing when no name is near.
[[nodiscard]] std::string suggestion(std::string_view typed, std::span<const std::string_view> names,
                                     std::size_t limit = 3);

/// Bytes of the valid UTF-8 sequence at the start of a text that is not empty; 0 when there is none.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// The text with `?` for control characters, for those that end a line or turn the direction of a text, and for bytes
/// that are no UTF-8, so that a terminal shows what it is given; line feeds and tabs stay when `lines` is true.
[[nodiscard]] std::string printable(std::string_view text, bool lines);

/// JSON with \uXXXX for what printable() replaces, so that it says the same and a terminal shows it.
[[nodiscard]] std::string escaped_controls(std::string_view json);

/// A text of more than `most` bytes with less of its middle, and how much that was.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

/// A word as a shell reads it back.
[[nodiscard]] std::string shell_quoted(const std::string& word);

/// "1 run", "12 runs".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view thing);

/// `1,313,626,112`.
[[nodiscard]] std::string grouped(std::uint64_t number);

enum class Align { left, right };

/// A table of text cells in aligned columns, two spaces apart, no trailing spaces.
class Table {
 public:
  struct Column {
    std::string title;  ///< may be empty; a table whose titles are all empty has no header line
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Missing cells are empty; cells beyond the last column are dropped.
  void add(std::vector<std::string> cells);
  /// Every line ends with a line feed. Widths count UTF-8 characters, not bytes.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ullage
