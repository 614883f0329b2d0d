// What is written strictly is read exactly; everything else is refused with a reason.
#include "base/byte_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

using ::testing::HasSubstr;

std::uint64_t parsed(std::string_view text) {
  const auto bytes = parse_byte_size(text);
  EXPECT_TRUE(bytes.ok()) << text;
  return bytes.ok() ? *bytes : 0;
}

TEST(ByteSize, ReadsEachUnit) {
  EXPECT_EQ(parsed("0B"), 0u);
  EXPECT_EQ(parsed("512 B"), 512u);
  EXPECT_EQ(parsed("3KiB"), 3072u);
  EXPECT_EQ(parsed("48GiB"), std::uint64_t{48} << 30);
  EXPECT_EQ(parsed("2 TiB"), std::uint64_t{2} << 40);
  EXPECT_EQ(parsed("1kB"), 1000u);
  EXPECT_EQ(parsed("500MB"), 500'000'000u);
  EXPECT_EQ(parsed("1PB"), 1'000'000'000'000'000u);
}

// As a script or another program writes them, and as sizes of sectors always could be.
TEST(ByteSize, DigitsAloneAreBytes) {
  EXPECT_EQ(parsed("0"), 0u);
  EXPECT_EQ(parsed("1000000000"), 1'000'000'000u);
  EXPECT_EQ(parsed("0048"), 48u);
  EXPECT_EQ(parsed("9223372036854775807"), (std::uint64_t{1} << 63) - 1);
  EXPECT_THAT(parse_byte_size("9223372036854775808").error().message,
              HasSubstr("more than any machine has"));
  EXPECT_THAT(parse_byte_size("99999999999999999999").error().message,
              HasSubstr("too many digits"));
}

TEST(ByteSize, KeepsFractionsExact) {
  EXPECT_EQ(parsed("1.5GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(parsed("0.5KiB"), 512u);
  EXPECT_EQ(parsed("0.001MB"), 1000u);
  EXPECT_EQ(parsed("8191.9990234375PiB"), (std::uint64_t{1} << 63) - (std::uint64_t{1} << 40));
}

TEST(ByteSize, DropsWhatIsLessThanAByte) {
  EXPECT_EQ(parsed("2.2MiB"), 2306867u);     // 2306867.2
  EXPECT_EQ(parsed("2.1GiB"), 2254857830u);  // 2254857830.4
  EXPECT_EQ(parsed("0.9999KiB"), 1023u);     // 1023.8976
  EXPECT_EQ(parsed("0.9999999999999999999PiB"), (std::uint64_t{1} << 50) - 1);
  EXPECT_EQ(parsed("1.0009765625KiB"), 1025u);  // exactly
  EXPECT_EQ(parsed("1.0009765624KiB"), 1024u);
}

TEST(ByteSize, AByteHasNoFractions) {
  for (const char* text : {"0.3B", "2000.5B", "2048.1 b"}) {
    const auto refused = parse_byte_size(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("a byte has no fractions")) << text;
    EXPECT_FALSE(parse_byte_count(text).ok()) << text;
  }
  EXPECT_EQ(parsed("2048.0B"), 2048u);
}

TEST(ByteSize, CountsAreRightToTheByte) {
  const auto counted = [](std::string_view text) {
    const auto bytes = parse_byte_count(text);
    EXPECT_TRUE(bytes.ok()) << text;
    return bytes.ok() ? *bytes : 0;
  };
  EXPECT_EQ(counted("2048"), 2048u);
  EXPECT_EQ(counted("0"), 0u);
  EXPECT_EQ(counted("2KiB"), 2048u);
  EXPECT_EQ(counted("2.048kB"), 2048u);
  EXPECT_EQ(counted("1.5 MiB"), 3u << 19);
  EXPECT_EQ(counted("9223372036854775807"), (std::uint64_t{1} << 63) - 1);
  for (const char* text : {"2.0001KiB", "2.0480001kB", "", " 2048", "2048 ", "-1", "2048.5",
                           "9223372036854775808", "0x800", "2048 sectors"}) {
    EXPECT_FALSE(parse_byte_count(text).ok()) << text;
  }
  const auto refused = parse_byte_count("2.0001KiB");
  EXPECT_THAT(refused.error().message, HasSubstr("'2.0001KiB' is not a size: it is no whole"));
}

TEST(ByteSize, ShowsCountsWithoutRounding) {
  EXPECT_EQ(format_byte_count(0), "0 B");
  EXPECT_EQ(format_byte_count(1023 << 10), "1023 KiB");
  EXPECT_EQ(format_byte_count(1 << 20), "1 MiB");
  EXPECT_EQ(format_byte_count((1 << 20) + 1), "1048577 B");
  EXPECT_EQ(format_byte_count(std::uint64_t{1} << 60), "1024 PiB");
}

// Against long division by hand: a digit at a time.
TEST(ByteSize, EveryTenthIsRightToTheByte) {
  const auto check = [](const char* unit, std::uint64_t unit_bytes) {
    for (unsigned tenths = 0; tenths < 500; ++tenths) {
      const std::string text = std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
      std::uint64_t expected = tenths / 10 * unit_bytes + unit_bytes / 10 * (tenths % 10);
      expected += unit_bytes % 10 * (tenths % 10) / 10;
      EXPECT_EQ(parsed(text + unit), expected) << text;
    }
  };
  check("KiB", 1024);
  check("MiB", 1 << 20);
  check(" GiB", 1 << 30);
  check("tib", std::uint64_t{1} << 40);
  check("GB", 1'000'000'000);
}

TEST(ByteSize, CapitalsMakeNoDifference) {
  for (const char* text : {"48GiB", "48gib", "48GIB", "48 giB"}) {
    EXPECT_EQ(parsed(text), std::uint64_t{48} << 30) << text;
  }
  for (const char* text : {"7MB", "7mb", "7Mb"}) EXPECT_EQ(parsed(text), 7'000'000u) << text;
  EXPECT_EQ(parsed("1KB"), 1000u);
  EXPECT_EQ(parsed("2kib"), 2048u);
  EXPECT_EQ(parsed("12b"), 12u);
}

TEST(ByteSize, RefusesWhatCouldMeanTwoThings) {
  for (const char* text : {"",      "48.5",   "48G",      "48K",   "-1GiB",  "+1GiB", " 1GiB",
                           "1GiB ", "1  GiB", "1.GiB",    ".5GiB", "1,5GiB", "0x10B", "1e3GiB",
                           "48 ",   " 48",    "-48",      "48.0",  "4 8",    "1_000", "1'000",
                           "GiB",   "auto",   "1.2.3GiB", "1GiBB", "1GiBit", "1i",    "1 k"}) {
    const auto refused = parse_byte_size(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("is not a size"));
  }
}

TEST(ByteSize, SaysWhichUnitsThereAre) {
  for (const char* text : {"48G", "48 gibi"}) {
    EXPECT_THAT(parse_byte_size(text).error().message,
                HasSubstr("none of B KiB MiB GiB TiB PiB kB MB GB TB PB"));
  }
  EXPECT_THAT(parse_byte_size("48.5").error().message, HasSubstr("has no unit"));
}

TEST(ByteSize, RefusesWhatDoesNotFit) {
  EXPECT_EQ(parsed("9223372036854775807B"), (std::uint64_t{1} << 63) - 1);
  EXPECT_FALSE(parse_byte_size("9223372036854775808B").ok());
  EXPECT_FALSE(parse_byte_size("8192PiB").ok());
  EXPECT_FALSE(parse_byte_size("99999999999999999999B").ok());
  EXPECT_FALSE(parse_byte_size("9999999999999999999PiB").ok());
}

TEST(ByteSize, ShowsTheNearestUnit) {
  EXPECT_EQ(format_byte_size(0), "0 B");
  EXPECT_EQ(format_byte_size(1023), "1023 B");
  EXPECT_EQ(format_byte_size(1024), "1 KiB");
  EXPECT_EQ(format_byte_size(std::uint64_t{48} << 30), "48 GiB");
  EXPECT_EQ(format_byte_size(1114707768), "1.04 GiB");
  EXPECT_EQ(format_byte_size(~std::uint64_t{0}), "16384.00 PiB");
}

TEST(ByteSize, ReadsBackWhatItShowsWhenThatIsExact) {
  for (std::uint64_t bytes = 1; bytes < (std::uint64_t{1} << 62); bytes *= 4) {
    EXPECT_EQ(parsed(format_byte_size(bytes)), bytes);
  }
}

}  // namespace
}  // namespace cuzk::base
