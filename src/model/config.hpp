// SPDX-License-Identifier: Apache-2.0
// A config.json of the Hugging Face hub, read field by field. It notes what was missing and what nobody asked for.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ullage::model {

/// What a field must be. Strict as transformers is: 64.0, "64" and true are no whole numbers.
enum class FieldType { whole, number, boolean, text, list, object };

/// The fields of one JSON object. A reading function never fails: the first mistake is kept, and the value returned
/// after it only lets the caller go on; finish with error().
class Config {
 public:
  /// Errors: `bad_input` for what is no JSON object, with the byte offset; more than 4 MiB of it.
  [[nodiscard]] static Result<Config> parse(std::string_view json, std::string where);

  Config(Config&&) noexcept;
  Config& operator=(Config&&) noexcept;
  ~Config();

  /// A size: from `least` to 2^31 - 1. A missing field has the value `fallback` and is listed as assumed.
  std::uint64_t size(std::string_view field, std::uint64_t fallback, std::uint64_t least = 1);
  /// As size; where the field is missing or null, `derived`, which `because` explains ("hidden_size /
  /// num_attention_heads").
  std::uint64_t size_or(std::string_view field, std::uint64_t derived, std::string_view because,
                        std::uint64_t least = 1);
  bool flag(std::string_view field, bool fallback);
  double number(std::string_view field, double fallback);
  /// Nothing when the field is missing or null.
  std::optional<std::int64_t> whole(std::string_view field);
  std::optional<std::string> text(std::string_view field);
  std::optional<std::vector<std::string>> texts(std::string_view field);
  /// Entries of the list in a field; nothing when it is missing or null.
  std::optional<std::size_t> length(std::string_view field);
  /// The object in a field; nothing when it is missing or null. Its mistakes are its own: see adopt().
  std::optional<Config> object(std::string_view field);

  [[nodiscard]] bool has(std::string_view field) const;      ///< also when it is null
  [[nodiscard]] bool is_null(std::string_view field) const;  ///< there, and null
  /// Another name under which the file may give `field`; the alias wins, as in transformers.
  void alias(std::string_view name, std::string_view field);
  /// The text in a field, if it is one; the field stays among the ignored ones.
  [[nodiscard]] std::optional<std::string> peek_text(std::string_view field) const;
  /// Refuses a field that is there, not null, and of none of these types. It stays among the ignored ones.
  void check_type(std::string_view field, std::initializer_list<FieldType> allowed);

  /// Puts a size in the place of what the file says, or says nothing, of a field.
  void replace(std::string_view field, std::uint64_t size);
  /// As if the field were not there.
  void drop(std::string_view field);

  /// Notes a mistake: `what` about `field`, and what is allowed.
  void refuse(std::string_view field, std::string what, std::string allowed, std::string hint = {});
  /// Takes the mistake of an object that was read out of this one.
  void adopt(const Config& inner, std::string_view field);

  [[nodiscard]] const std::optional<Error>& error() const;
  [[nodiscard]] const std::vector<std::string>& assumed() const;
  /// Fields that nothing asked for, in the order of the file.
  [[nodiscard]] std::vector<std::string> ignored() const;
  [[nodiscard]] const std::string& where() const;

 private:
  struct Implementation;
  explicit Config(std::unique_ptr<Implementation> implementation);
  void assume(std::string_view field, std::string value);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ullage::model
