// Digits alone are bytes where they can be meant so.
#include "base/memory_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

using ::testing::HasSubstr;

TEST(MemorySize, DigitsAloneAreBytesFromAMebibyteOn) {
  EXPECT_EQ(*parse_memory_size("1000000000"), 1'000'000'000u);
  EXPECT_EQ(*parse_memory_size("1048576"), 1u << 20);
  EXPECT_EQ(*parse_memory_size("48GiB"), std::uint64_t{48} << 30);
  EXPECT_EQ(*parse_memory_size("100B"), 100u) << "a unit leaves no doubt";
  EXPECT_EQ(*parse_memory_size("0"), 0u) << "what 0 means is the caller's";
  for (const char* text : {"8", "48", "1048575"}) {
    EXPECT_THAT(parse_memory_size(text).error().message,
                HasSubstr(std::string(text) + " without a unit are bytes"));
  }
  EXPECT_FALSE(parse_memory_size("48G").ok());
  EXPECT_FALSE(parse_memory_size("").ok());
}

}  // namespace
}  // namespace cuzk::base
