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

TEST(ByteSize, KeepsFractionsExact) {
  EXPECT_EQ(parsed("1.5GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(parsed("0.5KiB"), 512u);
  EXPECT_EQ(parsed("0.001MB"), 1000u);
  EXPECT_EQ(parsed("8191.9990234375PiB"), (std::uint64_t{1} << 63) - (std::uint64_t{1} << 40));
  EXPECT_THAT(parse_byte_size("0.3B").error().message, HasSubstr("no whole number of bytes"));
  EXPECT_FALSE(parse_byte_size("0.1GiB").ok());
}

TEST(ByteSize, RefusesWhatCouldMeanTwoThings) {
  for (const char* text : {"",      "48",     "48G",   "48gib",  "48 gb",    "48K",   "-1GiB",
                           "+1GiB", " 1GiB",  "1GiB ", "1  GiB", "1.GiB",    ".5GiB", "1,5GiB",
                           "0x10B", "1e3GiB", "GiB",   "auto",   "1.2.3GiB", "1GiBB"}) {
    const auto refused = parse_byte_size(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("is not a size"));
  }
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
