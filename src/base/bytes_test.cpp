// Hex, integers in both byte orders, and a reader that never leaves its span.
#include "base/bytes.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

using ::testing::HasSubstr;

TEST(Hex, RoundTripsEveryByte) {
  Bytes all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i);
  const std::string text = to_hex(all);
  EXPECT_EQ(text.substr(0, 8), "00010203");
  EXPECT_EQ(text.substr(504), "fcfdfeff");
  EXPECT_EQ(*from_hex(text, "x"), all);
}

TEST(Hex, AcceptsEitherCaseAndAPrefix) {
  EXPECT_EQ(*from_hex("0xAbcD", "x"), (Bytes{0xab, 0xcd}));
  EXPECT_EQ(*from_hex("0X00", "x"), Bytes{0});
  EXPECT_TRUE(from_hex("", "x")->empty());
  EXPECT_TRUE(from_hex("0x", "x")->empty());
}

TEST(Hex, RefusesWhatIsNotHexAndSaysWhere) {
  EXPECT_EQ(from_hex("abc", "seed").error().message, "seed: hex has an odd number of digits (3)");
  EXPECT_EQ(from_hex("abxd", "seed").error().message, "seed: not a hex digit at position 2");
  EXPECT_EQ(from_hex("abcg", "seed").error().message, "seed: not a hex digit at position 3");
  EXPECT_FALSE(from_hex("a b ", "seed").ok());
}

TEST(Hex, SizedDemandsTheSize) {
  EXPECT_TRUE(from_hex_sized("0102", 2, "x").ok());
  EXPECT_EQ(from_hex_sized("0102", 3, "x").error().message, "x: 2 bytes of hex, expected 3");
}

TEST(Integers, StoreAndLoadInBothOrders) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x80000000},
                                    std::uint64_t{0x0123456789abcdef}, ~std::uint64_t{0}}) {
    std::uint8_t bytes[8];
    store_u64_le(bytes, value);
    EXPECT_EQ(bytes[0], value & 0xff);
    EXPECT_EQ(load_u64_le(bytes), value);
    store_u64_be(bytes, value);
    EXPECT_EQ(bytes[7], value & 0xff);
    EXPECT_EQ(load_u64_be(bytes), value);
    const auto low = static_cast<std::uint32_t>(value);
    store_u32_le(bytes, low);
    EXPECT_EQ(load_u32_le(bytes), low);
    store_u32_be(bytes, low);
    EXPECT_EQ(load_u32_be(bytes), low);
  }
}

TEST(ByteReader, ReadsInOrderAndKnowsWhatIsLeft) {
  const Bytes bytes = {1, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 9};
  ByteReader reader(bytes, "key.bin");
  EXPECT_EQ(*reader.u32_le("first"), 1u);
  EXPECT_EQ(*reader.u32_be("second"), 2u);
  EXPECT_EQ(*reader.u64_le("third"), 3u);
  EXPECT_EQ(*reader.u64_be("fourth"), 4u);
  EXPECT_EQ(reader.offset(), 24u);
  EXPECT_EQ(reader.remaining(), 1u);
  EXPECT_EQ((*reader.take(1, "rest"))[0], 9);
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, NamesTheFieldThatEndsEarly) {
  const Bytes bytes(6);
  ByteReader reader(bytes, "key.bin");
  ASSERT_TRUE(reader.u32_le("count").ok());
  const auto early = reader.u64_be("offset table");
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().kind, ErrorKind::kMalformed);
  EXPECT_EQ(early.error().message, "key.bin: at byte 4: offset table needs 8 bytes, 2 are left");
  EXPECT_EQ(reader.remaining(), 2u) << "a failed read takes nothing";
}

TEST(ByteReader, CountsOfRecordsCannotWrap) {
  const Bytes bytes(100);
  ByteReader reader(bytes, "key.bin");
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t count :
       {kMax, kMax / 2 + 1, std::uint64_t{1} << 61, std::uint64_t{26}}) {
    const auto result = reader.take_records(count, 4, "points");
    ASSERT_FALSE(result.ok()) << count;
    EXPECT_THAT(result.error().message, HasSubstr(std::to_string(count)));
  }
  EXPECT_FALSE(reader.take(kMax, "rest").ok());
  EXPECT_EQ(reader.take_records(25, 4, "points")->size(), 100u);
  EXPECT_TRUE(reader.take_records(0, 4, "none").ok());
}

}  // namespace
}  // namespace cuzk::base
