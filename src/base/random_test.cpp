// The operating system's bytes arrive whole and differ from call to call.
#include "base/random.h"

#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

TEST(FillRandom, FillsEveryByteOfALongSpan) {
  // Over 256 bytes the kernel may answer in parts. 64 all-equal bytes in a row would have
  // probability 2^-504.
  std::vector<std::uint8_t> bytes(100000, 0);
  ASSERT_TRUE(fill_random(bytes).ok());
  for (std::size_t i = 0; i + 64 <= bytes.size(); i += 64) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(i);
    EXPECT_NE(std::count(first, first + 64, *first), 64) << "at " << i;
  }
  const auto ones = std::count(bytes.begin(), bytes.end(), std::uint8_t{1});
  EXPECT_GT(ones, 200);
  EXPECT_LT(ones, 700);
}

TEST(FillRandom, DiffersFromCallToCall) {
  std::array<std::uint8_t, 32> first = {}, second = {};
  ASSERT_TRUE(fill_random(first).ok());
  ASSERT_TRUE(fill_random(second).ok());
  EXPECT_NE(first, second);
  EXPECT_TRUE(fill_random({}).ok());
}

}  // namespace
}  // namespace cuzk::base
