// The compact witness against a plain list of values.
//
// Pushes are random mixtures of bits and elements; joins fall on every border of a word of bits.
#include "r1cs/assignment.h"

#include <random>

#include <gtest/gtest.h>

#include "field/bls12_381.h"

namespace cuzk::r1cs {
namespace {

using F = field::bls12_381::Fr;

// The obvious twin: a list of values and kinds.
struct PlainWitness {
  std::vector<F> values;
  std::vector<bool> scalar;
  void push(const F& value, bool is_scalar) {
    values.push_back(value);
    scalar.push_back(is_scalar);
  }
};

void expect_same(const CompactWitness<F>& fast, const PlainWitness& plain) {
  ASSERT_EQ(fast.size(), plain.values.size());
  std::size_t scalars = 0;
  for (std::size_t i = 0; i < plain.values.size(); ++i) {
    ASSERT_EQ(fast.is_scalar(i), plain.scalar[i]) << i;
    ASSERT_EQ(fast.value(i), plain.values[i]) << i;
    if (plain.scalar[i]) {
      ASSERT_FALSE(fast.bit(i)) << i;
      ASSERT_EQ(fast.scalar_rank(i), scalars) << i;
      ++scalars;
    }
  }
  ASSERT_EQ(fast.scalar_count(), scalars);
}

// Random pushes of every kind, into both.
void push_randomly(CompactWitness<F>& fast, PlainWitness& plain, std::size_t pushes,
                   std::mt19937_64& random) {
  for (std::size_t n = 0; n < pushes; ++n) {
    const std::uint64_t word = random();
    const auto push_plain = [&](std::uint64_t bits, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) plain.push(F::from_u64(bits >> i & 1), false);
    };
    switch (random() % 4) {
      case 0: {
        const F value = F::from_u64(word % 4);
        fast.push_scalar(value);
        plain.push(value, true);
        break;
      }
      case 1: {
        const unsigned count = static_cast<unsigned>(random() % 65);
        fast.push_bits(word, count);
        push_plain(word, count);
        break;
      }
      case 2: {
        std::vector<std::uint64_t> words(1 + random() % 4);
        for (auto& w : words) w = random();
        const std::size_t last = 1 + random() % 64;
        if (last < 64) words.back() &= (std::uint64_t{1} << last) - 1;
        fast.push_bit_words(words, 64 * (words.size() - 1) + last);
        for (std::size_t i = 0; i + 1 < words.size(); ++i) push_plain(words[i], 64);
        push_plain(words.back(), last);
        break;
      }
      default: {
        const F value = F::from_u64(word % 3);
        fast.push_classified(value);
        plain.push(value, !(value.is_zero() || value.is_one()));
        break;
      }
    }
  }
}

TEST(CompactWitness, EqualsAPlainListAfterAnyPushes) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    CompactWitness<F> fast;
    PlainWitness plain;
    push_randomly(fast, plain, 40, random);
    expect_same(fast, plain);
  }
}

TEST(CompactWitness, AppendJoinsAtAnyBorder) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    CompactWitness<F> first, second;
    PlainWitness plain;
    push_randomly(first, plain, seed % 7, random);
    push_randomly(second, plain, seed % 5, random);
    first.append(second);
    expect_same(first, plain);
    push_randomly(first, plain, 10, random);  // still good to grow
    expect_same(first, plain);
  }
}

TEST(CompactWitness, AppendingNothingChangesNothing) {
  CompactWitness<F> witness;
  witness.append({});
  EXPECT_EQ(witness.size(), 0u);
  witness.push_bits(5, 3);
  witness.append({});
  witness.push_bit_words({}, 0);
  EXPECT_EQ(witness.size(), 3u);
  EXPECT_TRUE(witness.bit(2));
}

TEST(CompactWitness, OfTheInputsHasBitsAndScalarsAsAuxHas) {
  Assignment<F> assignment;
  assignment.inputs = {F::one(), F::from_u64(7), F::zero(), -F::one()};
  const CompactWitness<F> inputs = compact_inputs(assignment);
  ASSERT_EQ(inputs.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(inputs.value(i), assignment.inputs[i]);
  EXPECT_EQ(inputs.scalar_count(), 2u);
  EXPECT_TRUE(inputs.is_scalar(1));
  EXPECT_FALSE(inputs.is_scalar(0));
}

TEST(CompactWitness, TakesABitPerBooleanAndAScalarPerElement) {
  CompactWitness<F> witness;
  for (int i = 0; i < 640; ++i) witness.push_bits(0x123456789abcdef0, 64);
  const std::size_t bits_only = witness.byte_count();
  EXPECT_LE(bits_only, std::size_t{640 * (8 + 8 + 4)});
  witness.push_scalar(F::from_u64(7));
  EXPECT_GE(witness.byte_count(), bits_only + sizeof(F));
}

}  // namespace
}  // namespace cuzk::r1cs
