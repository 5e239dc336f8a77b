// SPDX-License-Identifier: Apache-2.0
// gzip (several members in a row too) through zlib, zstd through its own library.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "ingest/file/source.hpp"

namespace ullage::ingest {

namespace {

class Gzip final : public Decoder {
 public:
  Gzip() { failed_ = inflateInit2(&stream_, 15 + 16) != Z_OK; }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() override { inflateEnd(&stream_); }

  std::size_t decode(std::span<const std::byte>& in, std::span<std::byte> out) override {
    if (failed_ || out.empty()) return 0;
    if (complete_ && !next_member(in)) return 0;
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    stream_.avail_in = static_cast<uInt>(std::min(in.size(), most));
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), most));
    const uInt room = stream_.avail_out;
    const uInt given = stream_.avail_in;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(given - stream_.avail_in);
    complete_ = status == Z_STREAM_END;
    failed_ = status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR;
    return room - stream_.avail_out;
  }
  [[nodiscard]] bool failed() const override { return failed_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  bool next_member(std::span<const std::byte>& in) {
    if (in.empty()) return false;
    complete_ = false;
    failed_ = inflateReset(&stream_) != Z_OK;
    return !failed_;
  }

  z_stream stream_{};
  bool failed_ = false;
  bool complete_ = false;
};

class Zstd final : public Decoder {
 public:
  Zstd() : stream_(ZSTD_createDStream()) { ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, 27); }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() override { ZSTD_freeDStream(stream_); }

  std::size_t decode(std::span<const std::byte>& in, std::span<std::byte> out) override {
    if (failed_ || out.empty()) return 0;
    if (complete_ && in.empty()) return 0;  // another call would wait for another frame
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &output, &input);
    in = in.subspan(input.pos);
    failed_ = ZSTD_isError(status) != 0;
    complete_ = status == 0;
    return output.pos;
  }
  [[nodiscard]] bool failed() const override { return failed_; }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  ZSTD_DStream* stream_;
  bool failed_ = false;
  bool complete_ = false;
};

}  // namespace

std::unique_ptr<Decoder> gzip_decoder() {
  return std::make_unique<Gzip>();
}

std::unique_ptr<Decoder> zstd_decoder() {
  return std::make_unique<Zstd>();
}

}  // namespace ullage::ingest
