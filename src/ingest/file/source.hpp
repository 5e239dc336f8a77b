// SPDX-License-Identifier: Apache-2.0
// The bytes of an input, decompressed on the way: plain, gzip or zstd, told apart by their first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ingest/file/mapped_file.hpp"

namespace ullage::ingest {

/// One step of a decompression.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Takes from the front of `in` and fills `out`; returns the bytes written. 0 with input left means damage.
  virtual std::size_t decode(std::span<const std::byte>& in, std::span<std::byte> out) = 0;
  [[nodiscard]] virtual bool failed() const = 0;    ///< the compressed bytes are wrong
  [[nodiscard]] virtual bool complete() const = 0;  ///< the last frame has its end
};

std::unique_ptr<Decoder> gzip_decoder();
std::unique_ptr<Decoder> zstd_decoder();

/// Reads an input once from front to end.
class Source {
 public:
  /// A regular file, or `-` for the standard input (held in memory). Errors: `io`.
  static Result<Source> open(const std::string& path);
  /// The same, or a pipe, as a shell's <(COMMAND) names one: for what is opened once. Nobody is waited for who has not
  /// opened the other end.
  static Result<Source> open_once(const std::string& path);
  /// From memory; `name` stands for the path in messages. The bytes must outlive the source.
  static Source of(std::span<const std::byte> bytes, std::string name);

  /// Decompressed bytes into `out`; fewer only at the end, 0 when there are no more.
  std::size_t read(std::span<std::byte> out);
  /// The first decompressed bytes, at most `wanted`; they are still to be read.
  std::string_view head(std::size_t wanted = 4096);
  /// All bytes that are left, at once: a view of the mapped file where it is not compressed.
  std::span<const std::byte> rest();
  /// The compressed data are damaged or cut: what came before was given.
  [[nodiscard]] const std::optional<Error>& damage() const { return damage_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool compressed() const { return decoder_ != nullptr; }

 private:
  static Result<Source> holding(Result<std::vector<std::byte>> bytes, const std::string& name);
  Source() = default;
  void start(std::span<const std::byte> raw);
  std::size_t decode(std::span<std::byte> out);
  void note_damage();

  std::string name_;
  std::optional<MappedFile> file_;
  std::vector<std::byte> held_;     ///< of the standard input
  std::span<const std::byte> raw_;  ///< not yet decoded
  std::size_t raw_size_ = 0;
  std::unique_ptr<Decoder> decoder_;
  std::vector<std::byte> ahead_;  ///< decoded, not yet given
  std::size_t ahead_used_ = 0;
  std::vector<std::byte> whole_;
  std::optional<Error> damage_;
};

}  // namespace ullage::ingest
