// SPDX-License-Identifier: Apache-2.0
#include "base/byte_reader.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <vector>

namespace ullage {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(ByteReader, ReadsLittleEndian) {
  const auto data = bytes_of({1, 2, 1, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 'h', 'i'});
  ByteReader reader(data);
  EXPECT_EQ(reader.u8().value(), 1);
  EXPECT_EQ(reader.u16().value(), 0x0102);
  EXPECT_EQ(reader.u32().value(), 0x01020304u);
  EXPECT_EQ(reader.u64().value(), 0x0102030405060708u);
  EXPECT_EQ(reader.text(2).value(), "hi");
  EXPECT_TRUE(reader.at_end());
}

TEST(ByteReader, AnOverrunIsAnErrorAndDoesNotMove) {
  const auto data = bytes_of({1, 2, 3});
  ByteReader reader(data);
  ASSERT_TRUE(reader.skip(1));
  const auto number = reader.u32();
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(number.error().where, "byte 1");
  EXPECT_EQ(reader.offset(), 1u);
  EXPECT_FALSE(reader.bytes(SIZE_MAX));
  EXPECT_FALSE(reader.skip(SIZE_MAX));
  EXPECT_EQ(reader.remaining(), 2u);
}

TEST(ByteReader, NeverPassesTheEnd) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint8_t>& data, const std::vector<std::uint8_t>& steps) {
    ByteReader reader(std::as_bytes(std::span(data)));
    for (const auto step : steps) {
      (void)reader.u16().has_value();
      (void)reader.skip(step).has_value();
      RC_ASSERT(reader.offset() + reader.remaining() == data.size());
    }
  }));
}

}  // namespace
}  // namespace ullage
