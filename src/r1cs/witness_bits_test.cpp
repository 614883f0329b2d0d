// Packed boolean strings against plain lists of booleans.
//
// Slices and joins fall on every offset in a word, which is where shifts by 64 would hide.
#include "r1cs/witness_bits.h"

#include <random>

#include <gtest/gtest.h>

namespace cuzk::r1cs {
namespace {

// A string of random booleans of all kinds, built one by one.
std::vector<WitnessBit> random_bits(std::size_t count, std::mt19937_64& random) {
  std::vector<WitnessBit> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back({static_cast<BitKind>(random() % 3), random() % 2 == 1});
  }
  return out;
}
WitnessBits packed(const std::vector<WitnessBit>& bits) {
  WitnessBits out;
  for (const WitnessBit& bit : bits) out.push_back(bit);
  return out;
}
void expect_same(const WitnessBits& fast, const std::vector<WitnessBit>& plain) {
  ASSERT_EQ(fast.size(), plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(fast[i].kind, plain[i].kind) << i;
    ASSERT_EQ(fast[i].value(), plain[i].value()) << i;
  }
  // The invariants: nothing past the end, no negated constants.
  for (const auto& word : fast.words()) ASSERT_EQ(word.constant & word.negated, 0u);
  if (plain.size() % 64 != 0) {
    const auto& last = fast.words().back();
    ASSERT_EQ((last.value | last.constant | last.negated) >> (plain.size() % 64), 0u);
  }
}

TEST(WitnessBits, AppendsAndSlicesAtAnyBorder) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<WitnessBit> first = random_bits(random() % 200, random);
    const std::vector<WitnessBit> second = random_bits(random() % 200, random);
    WitnessBits fast = packed(first);
    fast.append(packed(second));
    first.insert(first.end(), second.begin(), second.end());
    expect_same(fast, first);
    if (first.empty()) continue;
    const std::size_t from = random() % first.size();
    const std::size_t count = random() % (first.size() - from + 1);
    expect_same(fast.slice(from, count),
                {first.begin() + static_cast<std::ptrdiff_t>(from),
                 first.begin() + static_cast<std::ptrdiff_t>(from + count)});
  }
}

TEST(WitnessBits, ReversesInsideBytesAndPadsWithFalse) {
  std::mt19937_64 random(2);
  for (const std::size_t size : {0, 1, 7, 8, 9, 63, 64, 65, 255, 256}) {
    std::vector<WitnessBit> plain = random_bits(size, random);
    const WitnessBits fast = packed(plain);
    while (plain.size() % 8 != 0) plain.push_back(WitnessBit::constant(false));
    for (std::size_t i = 0; i < plain.size(); i += 8) {
      std::reverse(plain.begin() + static_cast<std::ptrdiff_t>(i),
                   plain.begin() + static_cast<std::ptrdiff_t>(i + 8));
    }
    expect_same(fast.byte_reversed(), plain);
  }
}

TEST(WitnessBits, LoadsAndStoresBigEndianWords) {
  std::mt19937_64 random(3);
  const std::vector<WitnessBit> plain = random_bits(256, random);
  const WitnessBits fast = packed(plain);
  WitnessBits copy;
  for (std::size_t first = 0; first < 256; first += 32) {
    const PackedBits<std::uint32_t> word = fast.big_endian_word(first);
    for (unsigned i = 0; i < 32; ++i) {
      ASSERT_EQ(((word.value >> (31 - i)) & 1) != 0, plain[first + i].value());
      ASSERT_EQ(((word.constant >> (31 - i)) & 1) != 0, plain[first + i].is_constant());
    }
    copy.append_big_endian(word);
  }
  expect_same(copy, plain);
}

TEST(WitnessBits, MakesConstantsAndVariables) {
  WitnessBits bits;
  bits.append_constant(~std::uint64_t{0}, 3);
  bits.append_variables(~std::uint64_t{0}, 2);
  bits.append_constant(0, 0);
  bits.append_variables(0, 64);
  ASSERT_EQ(bits.size(), 69u);
  EXPECT_TRUE(bits[2].is_constant(true));
  EXPECT_EQ(bits[3].kind, BitKind::kIs);
  EXPECT_TRUE(bits[4].value());
  EXPECT_FALSE(bits[68].value());
}

TEST(WitnessBit, NegationFlipsValueAndTag) {
  EXPECT_TRUE(WitnessBit::constant(false).negated().is_constant(true));
  const WitnessBit variable = WitnessBit::of(true);
  EXPECT_EQ(variable.negated().kind, BitKind::kNot);
  EXPECT_FALSE(variable.negated().value());
  EXPECT_EQ(variable.negated().negated().kind, BitKind::kIs);
  EXPECT_TRUE(variable.negated().negated().value());
}

}  // namespace
}  // namespace cuzk::r1cs
