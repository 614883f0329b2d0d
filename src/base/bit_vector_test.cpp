// The bitmap against a vector of bools, around word borders.
#include "base/bit_vector.h"

#include <random>

#include <gtest/gtest.h>

namespace cuzk::base {
namespace {

void expect_equal(const BitVector& bits, const std::vector<bool>& expected) {
  ASSERT_EQ(bits.size(), expected.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(bits.get(i), expected[i]) << "bit " << i;
    count += expected[i] ? 1 : 0;
  }
  EXPECT_EQ(bits.count(), count);
  EXPECT_EQ(bits.words().size(), (expected.size() + 63) / 64);
  if (expected.size() % 64 != 0) {
    EXPECT_EQ(bits.words().back() >> (expected.size() % 64), 0u) << "unused bits are not clear";
  }
}

TEST(BitVector, PushesRunsOfEveryLengthAtEveryOffset) {
  for (unsigned offset = 0; offset <= 64; ++offset) {
    for (unsigned count = 0; count <= 64; ++count) {
      BitVector bits;
      std::vector<bool> expected;
      const std::uint64_t first = 0x9e3779b97f4a7c15u, second = 0xc2b2ae3d27d4eb4fu;
      bits.push(first, offset);
      bits.push(second, count);
      for (unsigned i = 0; i < offset; ++i) expected.push_back((first >> i) & 1);
      for (unsigned i = 0; i < count; ++i) expected.push_back((second >> i) & 1);
      expect_equal(bits, expected);
    }
  }
}

TEST(BitVector, AgreesWithBoolsOnRandomRuns) {
  std::mt19937_64 random(1);
  BitVector bits;
  std::vector<bool> expected;
  bits.reserve(20000);
  while (expected.size() < 20000) {
    const std::uint64_t value = random();
    const auto count = static_cast<unsigned>(random() % 65);
    bits.push(value, count);
    for (unsigned i = 0; i < count; ++i) expected.push_back((value >> i) & 1);
  }
  expect_equal(bits, expected);
}

TEST(BitVector, StartsClearAndSetsSingleBits) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64},
                                 std::size_t{65}, std::size_t{129}}) {
    BitVector bits(size);
    std::vector<bool> expected(size);
    expect_equal(bits, expected);
    for (std::size_t i = 0; i < size; i += 7) {
      bits.set(i);
      expected[i] = true;
    }
    expect_equal(bits, expected);
  }
}

TEST(BitVector, ComparesByValueAndLength) {
  BitVector first, second;
  first.push(5, 3);
  second.push(5, 4);
  EXPECT_NE(first, second);
  first.push(0, 1);
  EXPECT_EQ(first, second);
}

TEST(BitVectorDeathTest, RefusesMoreThanAWord) {
  BitVector bits;
  EXPECT_DEATH(bits.push(0, 65), "count <= 64");
}

}  // namespace
}  // namespace cuzk::base
