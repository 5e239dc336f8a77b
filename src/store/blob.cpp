// SPDX-License-Identifier: Apache-2.0
#include "store/blob.hpp"

#include "base/bytes.hpp"

#include <zstd.h>

namespace ullage::store {

std::string packed(std::string_view text) {
  constexpr int level = 3;
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), level));
  return frame;
}

Result<std::string> unpacked(std::string_view frame) {
  const auto damaged = [] { return fail(ErrorKind::io, "the store holds a damaged result"); };
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > gib) return damaged();
  std::string text(size, '\0');
  if (ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size()) != text.size()) return damaged();
  return text;
}

}  // namespace ullage::store
