// Plain integers against 128-bit arithmetic and against each other.
//
// Two limbs are enough to meet every carry, and the compiler's own wide integer is the twin.
#include "field/limbs.h"

#include <gtest/gtest.h>

#include "field/samples.h"

namespace cuzk::field {
namespace {

WideLimb wide(const Limbs<2>& a) { return WideLimb{a[1]} << 64 | a[0]; }
Limbs<2> narrow(WideLimb v) { return {{static_cast<Limb>(v), static_cast<Limb>(v >> 64)}}; }

std::vector<Limbs<2>> samples() {
  std::vector<Limbs<2>> out = {{{0, 0}}, {{1, 0}}, {{~0ULL, 0}}, {{0, 1}}, {{~0ULL, ~0ULL}}};
  SampleGenerator generator(4);
  for (int i = 0; i < 20; ++i) out.push_back(generator.next_limbs<2>());
  return out;
}

TEST(Limbs, AddSubtractAndCompareLikeWideIntegers) {
  for (const auto& a : samples()) {
    for (const auto& b : samples()) {
      Limbs<2> sum, difference;
      const Limb carry = add_carry(sum, a, b), borrow = sub_borrow(difference, a, b);
      EXPECT_EQ(sum, narrow(wide(a) + wide(b)));
      EXPECT_EQ(carry, wide(a) + wide(b) < wide(a) ? 1u : 0u);
      EXPECT_EQ(difference, narrow(wide(a) - wide(b)));
      EXPECT_EQ(borrow, wide(a) < wide(b) ? 1u : 0u);
      EXPECT_EQ(less(a, b), wide(a) < wide(b));
    }
  }
}

TEST(Limbs, HalvesDividesAndMeasures) {
  for (const auto& a : samples()) {
    EXPECT_EQ(half(a), narrow(wide(a) >> 1));
    for (const Limb d : {1ULL, 3ULL, 6ULL, 10'000'000'000'000'000'000ULL, ~0ULL}) {
      EXPECT_EQ(quotient(a, d), narrow(wide(a) / d));
    }
    std::size_t length = 0;
    while (length < 128 && wide(a) >> length != 0) ++length;
    EXPECT_EQ(a.bit_length(), length);
  }
}

TEST(Limbs, ReadsBitsAcrossLimbsAndPastTheEnd) {
  for (const auto& a : samples()) {
    for (std::size_t first = 0; first < 140; first += 7) {
      for (const std::size_t count : {0, 1, 5, 13, 63, 64}) {
        const WideLimb shifted = first < 128 ? wide(a) >> first : 0;
        const Limb mask = count == 64 ? ~Limb{0} : (Limb{1} << count) - 1;
        EXPECT_EQ(a.bits(first, count), count == 0 ? 0 : static_cast<Limb>(shifted) & mask);
      }
    }
  }
}

TEST(Limbs, RoundTripsBytesInBothOrders) {
  std::uint8_t le[16], be[16];
  for (const auto& a : samples()) {
    store_le(a, le);
    store_be(a, be);
    EXPECT_EQ(load_le<2>(le), a);
    EXPECT_EQ(load_be<2>(be), a);
    EXPECT_TRUE(std::equal(le, le + 16, std::reverse_iterator(be + 16)));
    EXPECT_EQ(le[0], static_cast<std::uint8_t>(a[0]));
  }
}

TEST(Limbs, ReadsHexConstants) {
  EXPECT_EQ(limbs_from_hex<2>("10000000000000000"), (Limbs<2>{{0, 1}}));
  EXPECT_EQ(limbs_from_hex<2>("0123456789abcdef"), (Limbs<2>{{0x0123456789abcdef}}));
}

}  // namespace
}  // namespace cuzk::field
