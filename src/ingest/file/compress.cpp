// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/compress.hpp"

#include <zstd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "ingest/file/mapped_file.hpp"

namespace ullage::ingest {

namespace {

constexpr int level = 1;

Result<void> write_frame(std::span<const std::byte> bytes, const std::string& target) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  std::ofstream file(target, std::ios::binary);
  std::vector<char> buffer(ZSTD_CStreamOutSize());
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  for (std::size_t left = 1; left != 0 && file;) {
    ZSTD_outBuffer output{buffer.data(), buffer.size(), 0};
    left = ZSTD_compressStream2(context.get(), &output, &input, ZSTD_e_end);
    if (ZSTD_isError(left)) return fail(ErrorKind::io, "cannot compress", target);
    file.write(buffer.data(), static_cast<std::streamsize>(output.pos));
  }
  file.close();
  if (!file) return fail(ErrorKind::io, std::string("cannot write: ") + std::strerror(errno), target);
  return {};
}

}  // namespace

Result<void> compress_file(const std::string& path, const std::string& target) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  const std::string partial = target + ".partial";
  auto written = write_frame(file->bytes(), partial);
  if (written && std::rename(partial.c_str(), target.c_str()) != 0)
    written = fail(ErrorKind::io, std::string("cannot rename: ") + std::strerror(errno), target);
  if (!written) {
    std::remove(partial.c_str());
    return written;
  }
  std::remove(path.c_str());
  return {};
}

}  // namespace ullage::ingest
