// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value or an Error. Nothing in src/ throws across a room's border.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ullage {

/// What kind of failure it is; apps/ maps each to an exit code (docs/command_line.md).
enum class ErrorKind { usage, bad_input, io, unsupported, script_failed, timeout, internal };

/// An error that a person can act on.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string what;      ///< what went wrong, one sentence without a full stop
  std::string where;     ///< path, byte offset, flag ...; may be empty
  std::string expected;  ///< what was expected instead; may be empty
  std::string hint;      ///< what to try next; may be empty
};

/// What went wrong and where, in one line: "the data ends too early (snapshot.pickle, byte 12)".
inline std::string describe(const Error& error) {
  return error.where.empty() ? error.what : error.what + " (" + error.where + ")";
}

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand for the failure branch of a Result.
inline tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string where = {}, std::string expected = {},
                                  std::string hint = {}) {
  return tl::unexpected<Error>(Error{kind, std::move(what), std::move(where), std::move(expected), std::move(hint)});
}

}  // namespace ullage
