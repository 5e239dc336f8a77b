// SPDX-License-Identifier: Apache-2.0
// Flags as data: a table per subcommand, from which parsing, help and completion come.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ullage::cli {

/// What a flag takes; values are checked while parsing.
enum class FlagKind {
  toggle,    ///< no value
  text,      ///< any text
  count,     ///< a whole number
  size,      ///< 80GiB, 80GB, 4096
  share,     ///< 15%, 0.15
  duration,  ///< 10m, 90s, 1h
  gpu,       ///< a name of the hardware catalogue; checked by chosen_gpu() where the command has --gpu-file
};

/// One row of a flag table.
struct Flag {
  std::string_view name;        ///< without the dashes
  std::string_view value_name;  ///< as help prints it: SIZE, NAME; empty for a toggle
  std::string_view help;        ///< one line
  FlagKind kind = FlagKind::text;
  std::string_view fallback = {};  ///< the value when the flag is absent; empty for none
};

/// The flag of every command that has machine-readable output.
inline constexpr Flag json_flag{"json", "", "print JSON instead of a table", FlagKind::toggle};

/// What a command line takes besides flags.
struct Shape {
  std::span<const Flag> flags;
  std::size_t positionals = 0;  ///< at most so many
  bool command = false;         ///< what follows `--` is a command to run
};

/// A parsed command line.
class Arguments {
 public:
  /// True when the flag was given.
  [[nodiscard]] bool given(std::string_view flag) const { return values_.contains(flag); }
  /// The flag's value or fallback; nothing when it has neither. The typed forms cannot fail after parsing.
  [[nodiscard]] std::optional<std::string> text(std::string_view flag) const;
  /// Every value of a flag that may be given several times, in order.
  [[nodiscard]] std::vector<std::string> texts(std::string_view flag) const;
  /// Every flag that was given, with its value, in order.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& in_order() const { return in_order_; }
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view flag) const;
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view flag) const;
  [[nodiscard]] std::optional<double> share(std::string_view flag) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(std::string_view flag) const;

  std::vector<std::string> positionals;
  std::vector<std::string> command;  ///< what followed `--`, when the shape takes a command
  bool help = false;                 ///< -h or --help was given; nothing else was checked

 private:
  friend Result<Arguments> parse_arguments(const Shape& shape, std::span<const std::string_view> words);
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::pair<std::string, std::string>> in_order_;
  std::map<std::string, std::string, std::less<>> fallbacks_;
};

/// Reads the words after the verb: `--flag value`, `--flag=value`, toggles, positionals, `--`. The last of equal flags
/// holds. Errors: `usage` for an unknown flag (with a suggestion), a missing, needless or bad value, too many
/// positionals.
[[nodiscard]] Result<Arguments> parse_arguments(const Shape& shape, std::span<const std::string_view> words);

/// The flags as aligned lines of help, --help included.
[[nodiscard]] std::string describe_flags(std::span<const Flag> flags);

}  // namespace ullage::cli
