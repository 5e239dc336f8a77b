// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ingest/file/compress.hpp"

namespace ullage::ingest {
namespace {

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string all_of(Source& source) {
  const auto bytes = source.rest();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Source over(const std::string& bytes) {
  return Source::of(std::as_bytes(std::span(bytes)), "x");
}

TEST(Source, HeadDoesNotTakeAnythingAway) {
  const std::string text = "hello, world";
  Source source = over(text);
  EXPECT_EQ(source.head(5), "hello");
  EXPECT_EQ(source.head(8), "hello, w");
  EXPECT_EQ(all_of(source), text);
}

TEST(Source, SeveralGzipMembersAreOneText) {
  const std::string big(300000, 'a');
  const std::string packed = gzip(big) + gzip("tail");
  Source source = over(packed);
  EXPECT_EQ(source.head(2), "aa");
  EXPECT_EQ(all_of(source), big + "tail");
  EXPECT_FALSE(source.damage());
}

TEST(Source, ACutGzipGivesWhatCameBefore) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i);
  const std::string packed = gzip(text);
  const std::string cut = packed.substr(0, packed.size() / 2);
  Source source = over(cut);
  const std::string got = all_of(source);
  EXPECT_GT(got.size(), 1000u);
  EXPECT_EQ(got, text.substr(0, got.size()));
  ASSERT_TRUE(source.damage());
  EXPECT_NE(source.damage()->where.find("byte"), std::string::npos);
}

TEST(Source, DamagedGzipSaysSo) {
  std::string packed = gzip(std::string(10000, 'a'));
  packed[14] ^= 0x55;
  packed[15] ^= 0x55;
  Source source = over(packed);
  all_of(source);
  EXPECT_TRUE(source.damage());
}

TEST(Source, ACompressedFileReplacesItsOriginal) {
  const auto folder = std::filesystem::temp_directory_path() / ("ullage_source_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / "x.json", packed = folder / "x.json.zst";
  std::string text;
  for (int i = 0; i < 200000; ++i) text += std::to_string(i * 7919);
  std::ofstream(path, std::ios::binary) << text;
  ASSERT_TRUE(compress_file(path, packed));
  EXPECT_FALSE(std::filesystem::exists(path));
  auto source = Source::open(packed);
  ASSERT_TRUE(source);
  EXPECT_EQ(all_of(*source), text);
  EXPECT_FALSE(source->damage());
  EXPECT_FALSE(compress_file(path, packed));
  std::filesystem::remove_all(folder);
}

TEST(Source, AZstdFrameEndsWhereItEndsAndNowhereElse) {
  const auto folder = std::filesystem::temp_directory_path() / ("ullage_zstd_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string path = folder / "x", packed = folder / "x.zst";
  std::ofstream(path, std::ios::binary) << std::string(1000, 'a');
  ASSERT_TRUE(compress_file(path, packed));
  std::ifstream file(packed, std::ios::binary);
  const std::string frame{std::istreambuf_iterator<char>(file), {}};
  Source one = over(frame);  // shorter than what is asked for at once
  EXPECT_EQ(all_of(one).size(), 1000U);
  EXPECT_FALSE(one.damage());
  const std::string twice = frame + frame;
  Source two = over(twice);
  EXPECT_EQ(all_of(two).size(), 2000U);
  EXPECT_FALSE(two.damage());
  const std::string half = frame + frame.substr(0, frame.size() / 2);
  Source cut = over(half);
  EXPECT_EQ(all_of(cut).size(), 1000U);
  EXPECT_TRUE(cut.damage());
  std::filesystem::remove_all(folder);
}

TEST(Source, AMissingFileIsAnError) {
  const auto source = Source::open("/nonexistent/x");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().kind, ErrorKind::io);
}

}  // namespace
}  // namespace ullage::ingest
